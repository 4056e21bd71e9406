// What a stack is to be, one state after another: resources come, change, are renamed and go, with references, associations
// and secrets. Each state has a number that stands in it, so that whoever finds one knows which it is.
import { a, type Fields, type Resource, withLabel } from './scene.ts'

export interface World {
  readonly number: number
  /** By `Kind/name`. */
  readonly resources: ReadonlyMap<string, Resource>
  /** All that it uses. */
  readonly secrets: Readonly<Record<string, string>>
}

/** How many there may be of each; the first of a kind is always there. */
const pool = { Label: 8, Machine: 3, Variable: 20, Datastore: 4, Volume: 10 } as const
type Kind = keyof typeof pool

export const worldKinds = Object.keys(pool) as Kind[]

/** Names are of this stack alone, and a renamed resource has a name that no other ever had. */
export function nextWorld(stack: string, number: number, from: World | null, random: () => number): World {
  const chance = (share: number) => random() < share
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const places = worldKinds.flatMap(kind =>
    Array.from({ length: pool[kind] }, (_, index) => ({ kind, name: `${kind.toLowerCase()}-${index}`, index })),
  )
  const there = places.filter(({ kind, name, index }) =>
    index === 0 ? true : from?.resources.has(`${kind}/${name}`) ? chance(0.85) : chance(0.45),
  )
  const namesOf = (wanted: Kind) => there.filter(({ kind }) => kind === wanted).map(({ name }) => name)
  const labels = namesOf('Label')
  const machines = namesOf('Machine')
  const secrets: Record<string, string> = {}

  const fieldsOf: { readonly [kind in Kind]: (name: string) => Fields } = {
    Label: name => ({
      color: `#${String(Math.floor(random() * 1e6)).padStart(6, '0')}`,
      description: name === 'label-0' ? markOf(number) : `of ${number}`,
    }),
    Machine: () => ({ tags: [`tag-${Math.floor(random() * 5)}`], description: `of ${number}` }),
    Variable: () => ({ value: { of: number, text: 'x'.repeat(Math.floor(random() * 2000)) } }),
    Datastore: name => ({
      host: `${name}-${number}.example`,
      username: 'fleet',
      password: { secretRef: { key: keyOf(stack, name) } },
    }),
    Volume: () => ({ size: `${1 + Math.floor(random() * 50)}GiB`, machine: { name: one(machines) } }),
  }

  const resources = there.map(({ kind, name }) => {
    const before = from?.resources.get(`${kind}/${name}`)
    if (kind === 'Datastore') {
      const key = keyOf(stack, name)
      const old = from?.secrets[key]
      secrets[key] = old === undefined || chance(0.3) ? `value ${number} of ${key}` : old
    }
    const rests = before && name !== 'label-0' && chance(0.4) && restsOn(before, labels, machines)
    if (rests) return before
    const display = before && chance(0.6) ? String(before.spec.name) : `${stack}-${name}-${number}`
    const marks = kind === 'Label' ? {} : withLabel(...labels.filter(() => chance(0.3)))
    return a(kind, name, { name: display, ...fieldsOf[kind](name), ...marks })
  })
  return { number, resources: new Map(resources.map(one => [`${one.kind}/${one.metadata.name}`, one])), secrets }
}

export const sourceOf = ({ number, resources }: World) => ({
  name: `${markOf(number)}.json`,
  content: JSON.stringify([...resources.values()]),
})

const markOf = (number: number): string => `state-${number}`

/** The number in what `markOf` made; null for other text. */
export const numberIn = (text: unknown): number | null => {
  const [, digits] = /^state-(\d+)(?:\.json)?$/.exec(String(text)) ?? []
  return digits === undefined ? null : Number(digits)
}

const keyOf = (stack: string, datastore: string): string => `${stack}-${datastore}`

/** What it refers to may be gone from the next state. */
function restsOn({ spec }: Resource, labels: readonly string[], machines: readonly string[]): boolean {
  const { associations = [], machine } = spec as { associations?: { name: string }[]; machine?: { name: string } }
  return associations.every(({ name }) => labels.includes(name)) && (!machine || machines.includes(machine.name))
}
