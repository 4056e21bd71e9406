// Data whose shape a kind does not know, such as the settings of an instance: what in it means more than itself, or is no data.

export interface FreePart {
  readonly path: readonly (string | number)[]
  /** For a variable: what `variableRef` holds. */
  readonly found: unknown
  readonly is: 'secret' | 'variable' | 'bad key'
}

export function* freeParts(value: unknown, path: readonly (string | number)[] = []): Generator<FreePart> {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* freeParts(item, [...path, index])
    return
  }
  const [key, ...more] = Object.keys(value)
  if (Object.hasOwn(value, '__proto__')) yield { path, found: value, is: 'bad key' }
  else if (key === 'secretRef' && more.length === 0) yield { path, found: value, is: 'secret' }
  else if (key === 'variableRef' && more.length === 0)
    yield { path: [...path, key], found: (value as { variableRef: unknown }).variableRef, is: 'variable' }
  else for (const [key, item] of Object.entries(value)) yield* freeParts(item, [...path, key])
}
