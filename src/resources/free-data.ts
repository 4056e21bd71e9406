// Data whose shape a kind does not know, such as the settings of an instance: what in it means more than itself, or is no data.

export interface FreePart {
  readonly path: readonly (string | number)[]
  /** For a variable: what `variableRef` holds. */
  readonly found: unknown
  readonly is: 'secret' | 'variable' | 'bad key'
}

export function freeParts(value: unknown): FreePart[] {
  const parts: FreePart[] = []
  collectParts(value, [], parts)
  return parts
}

/** `path` is where the value stands; it is another while the walk is inside, and the same afterwards. */
function collectParts(value: unknown, path: (string | number)[], parts: FreePart[]): void {
  if (typeof value !== 'object' || value === null) return
  const inside = (part: string | number, item: unknown) => {
    if (typeof item !== 'object' || item === null) return
    path.push(part)
    collectParts(item, path, parts)
    path.pop()
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) inside(index, item)
    return
  }
  const fields = value as { readonly [key: string]: unknown }
  const keys = Object.keys(fields)
  const only = keys.length === 1 ? keys[0] : undefined
  if (Object.hasOwn(fields, '__proto__')) parts.push({ path: [...path], found: value, is: 'bad key' })
  else if (only === 'secretRef') parts.push({ path: [...path], found: value, is: 'secret' })
  else if (only === 'variableRef') parts.push({ path: [...path, only], found: fields.variableRef, is: 'variable' })
  else for (const key of keys) inside(key, fields[key])
}
