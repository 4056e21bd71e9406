// The object that every file finds as `std`. All but thisFile is the same for all files and made once.
import { type Field, ObjectValue } from '../object.ts'
import { noFrame, type Value } from '../value.ts'
import { arrays } from './arrays.ts'
import { define, type Natives } from './define.ts'
import { encoding } from './encoding.ts'
import { manifest } from './manifest.ts'
import { math, pi } from './math.ts'
import { objects } from './objects.ts'
import { sets } from './sets.ts'
import { strings } from './strings.ts'
import { types } from './types.ts'

const tables: readonly Natives[] = [types, math, strings, arrays, sets, objects, encoding, manifest]

const hidden = (value: Value): Field => ({ visibility: 'hidden', body: () => value, site: null })

const shared = new Map<string, Field>([
  ...tables.flatMap(define).map(([name, native]) => [name, hidden(native)] as const),
  ['pi', hidden(pi)],
])

export function standardLibrary(file: string): ObjectValue {
  const fields = new Map(shared).set('thisFile', hidden(file))
  return ObjectValue.of({ fields, asserts: [], open: () => noFrame })
}
