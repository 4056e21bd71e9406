// `skip`: all of a kind, or one resource. What is in the stack stays as it is; what is new is not made.
import type { Selector } from '../request.ts'

export type Skips = (resource: { readonly kind: string; readonly name: string }) => boolean

export function skipsOf(selectors: readonly Selector[]): Skips {
  if (selectors.length === 0) return () => false
  const kinds = new Set(selectors.filter(({ name }) => name === undefined).map(({ kind }) => kind))
  const names = new Set(selectors.filter(({ name }) => name !== undefined).map(({ kind, name }) => `${kind}/${name}`))
  return ({ kind, name }) => kinds.has(kind) || names.has(`${kind}/${name}`)
}
