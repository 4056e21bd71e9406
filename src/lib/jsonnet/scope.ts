// Where a name is found, known before anything runs: so many frames out, and there in which slot.

export interface Scope {
  readonly parent: Scope | null
  readonly names: ReadonlyMap<string, number>
  /** Whether there is a self here. */
  readonly inObject: boolean
}

export interface Address {
  readonly hops: number
  readonly slot: number
}

/** No name of a program can be this one. */
export const dollar = '$'

export function innerScope(
  parent: Scope | null,
  names: readonly string[],
  inObject = parent?.inObject ?? false,
): Scope {
  return { parent, names: new Map(names.map((name, slot) => [name, slot])), inObject }
}

export function addressOf(name: string, scope: Scope): Address | null {
  let hops = 0
  for (let at: Scope | null = scope; at; at = at.parent, hops++) {
    const slot = at.names.get(name)
    if (slot !== undefined) return { hops, slot }
  }
  return null
}

export function* namesIn(scope: Scope): Iterable<string> {
  for (let at: Scope | null = scope; at; at = at.parent) yield* at.names.keys()
}
