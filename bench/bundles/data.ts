// A made-up fleet as a bundle: of every hundred resources 60 machines, 10 instances, 10 volumes, 10 cached images, 6 variables
// and 4 labels, which refer to each other as in real ones. The same count gives the same text.
export interface BenchSource {
  readonly name: string
  readonly content: string
  readonly encoding: 'yaml' | 'json'
}

export interface BenchBundle {
  readonly count: number
  /** Files of a thousand resources. */
  readonly yaml: readonly BenchSource[]
  /** The same resources. */
  readonly json: readonly BenchSource[]
  /** One in a hundred has another description. */
  readonly changed: readonly BenchSource[]
}

interface Resource {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: Readonly<Record<string, unknown>>
}

const perFile = 1_000

export function benchBundle(count: number): BenchBundle {
  const resources = fleetOf(count)
  const changed = resources.map((resource, index) =>
    index % 100 === 20 ? { ...resource, spec: { ...resource.spec, description: 'Moved to the other row' } } : resource,
  )
  return {
    count,
    yaml: filesOf(resources, 'yaml'),
    json: filesOf(resources, 'json'),
    changed: filesOf(changed, 'yaml'),
  }
}

function fleetOf(count: number): Resource[] {
  return Array.from({ length: count }, (_, index) => resourceAt(index % 100, `${count}-${Math.floor(index / 100)}`))
}

/** Names differ between sizes, so that several can be on one server. */
function resourceAt(place: number, group: string): Resource {
  const label = { kind: 'Label', name: `site-${group}-${place % 4}` }
  if (place < 4)
    return resource('Label', `site-${group}-${place}`, { color: '#2f6f4f', description: `Site ${place} of ${group}` })
  if (place < 10)
    return resource('Variable', `value-${group}-${place}`, {
      description: 'For every machine of the site',
      value: { servers: [`192.0.2.${place}`, `198.51.100.${place}`], port: 8000 + place },
    })
  if (place < 70)
    return resource('Machine', `machine-${group}-${place}`, {
      description: `Rack ${group}, place ${place}`,
      tags: ['edge', `row-${place % 6}`],
      system: place % 2 === 0 ? 'linux/x64' : 'linux/arm64',
      config: { etc: { motd: { text: `Welcome to machine ${place} of rack ${group}.` } } },
      associations: [label],
    })
  if (place < 80)
    return resource('Instance', `web-${group}-${place}`, {
      module: { name: 'web' },
      roles: { server: { settings: { port: 8000 + place, workers: 4 }, tags: [`row-${place % 6}`] } },
      associations: [label],
    })
  if (place < 90)
    return resource('Volume', `volume-${group}-${place}`, {
      size: `${place}GiB`,
      machine: { name: `machine-${group}-${place - 70}` },
      associations: [label],
    })
  return resource('CachedImage', `image-${group}-${place}`, {
    image: `registry.example/team/web-${place}`,
    tag: `2.${group}`,
    nodeSelector: { role: 'web', row: `row-${place % 6}` },
  })
}

const resource = (kind: string, name: string, spec: Resource['spec']): Resource => ({ kind, metadata: { name }, spec })

function filesOf(resources: readonly Resource[], encoding: 'yaml' | 'json'): BenchSource[] {
  return Array.from({ length: Math.ceil(resources.length / perFile) }, (_, file) => {
    const own = resources.slice(file * perFile, (file + 1) * perFile)
    const content = encoding === 'json' ? JSON.stringify(own, null, 2) : own.map(inYaml).join('---\n')
    return { name: `fleet-${file}.${encoding}`, content, encoding }
  })
}

/** As people write it: blocks, with short lists and maps in one line. */
function inYaml({ kind, metadata, spec }: Resource): string {
  const fields = Object.entries(spec).map(([key, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? `  ${key}:\n${Object.entries(value)
          .map(([name, inner]) => `    ${name}: ${inFlow(inner)}\n`)
          .join('')}`
      : `  ${key}: ${inFlow(value)}\n`,
  )
  return `apiVersion: cairn.dev/v1\nkind: ${kind}\nmetadata:\n  name: ${metadata.name}\nspec:\n${fields.join('')}`
}

const inFlow = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(inFlow).join(', ')}]`
    : typeof value === 'object' && value !== null
      ? `{ ${Object.entries(value)
          .map(([key, inner]) => `${key}: ${inFlow(inner)}`)
          .join(', ')} }`
      : typeof value === 'string' && !/^[a-z][\w /-]*$/i.test(value)
        ? JSON.stringify(value)
        : String(value)
