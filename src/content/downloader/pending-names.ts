// The names in pending/: a target, chosen by the manager; its progress record; and what is half-made.
// Decides what may lie there and what is left over. Touches nothing.

export const recordOf = (target: string): string => `${target}.progress`

/** For a file that gets its name by a rename; a crash can leave it. */
export const halfMadeName = (name: string, random: string): string => `.${name}.tmp-${random}`

const halfMade = /^\..+\.tmp-[0-9a-f]+$/
/** The manager's own: a hash of the sources, then what is wanted. */
const ours = /^[0-9a-f]{64}\.[0-9a-z-]+$/
/** Leaves room for what a half-made name adds. */
const longestName = 200

/** True for a file directly in the directory whose name can be no record and nothing half-made. */
export function isTarget(pending: string, target: string): boolean {
  if (!target.startsWith(`${pending}/`)) return false
  const name = target.slice(pending.length + 1)
  return name.length <= longestName && /^[A-Za-z0-9_][A-Za-z0-9._+%-]*$/.test(name) && !name.endsWith('.progress')
}

export interface Leftovers {
  readonly remove: readonly string[]
  /** Not of a kind that the downloader makes: told, never removed. */
  readonly unknown: readonly string[]
}

/** `wanted`: names of the targets that a config asks for. `recorded`: has a valid record beside it. */
export function leftoversIn(
  names: readonly string[],
  wanted: ReadonlySet<string>,
  recorded: (name: string) => boolean,
): Leftovers {
  const remove: string[] = []
  const unknown: string[] = []
  for (const name of names) {
    const target = name.endsWith('.progress') ? name.slice(0, -'.progress'.length) : name
    if (wanted.has(target) || halfMade.test(name)) continue
    if (ours.test(target) || recorded(target)) remove.push(name)
    else unknown.push(name)
  }
  return { remove, unknown }
}

/** Nobody's before the first download starts; later one of them may be becoming a record. */
export const halfMadeIn = (names: readonly string[]): string[] => names.filter(name => halfMade.test(name))
