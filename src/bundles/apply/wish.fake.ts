// Random bundles of few names, so that they meet each other.
import fc from 'fast-check'
import { type Doc, doc, marked } from './request.fake.ts'

export interface Wish {
  readonly marks: readonly { name: string; color: 'red' | 'blue' }[]
  readonly stores: readonly {
    name: string
    displayName: string
    url: string
    marks: readonly string[]
    secret: boolean
  }[]
  readonly disks: readonly { name: string; size: string; format: string; store?: string; marks: readonly string[] }[]
}

const name = fc.constantFrom('aa', 'bb', 'cc')
const some = <Value>(item: fc.Arbitrary<Value>) => fc.array(item, { maxLength: 3 })
const byName = <Item extends { name: string }>(items: fc.Arbitrary<Item[]>) =>
  items.map(list => [...new Map(list.map(item => [item.name, item])).values()])

export const wish: fc.Arbitrary<Wish> = fc.record({
  marks: byName(some(fc.record({ name, color: fc.constantFrom('red', 'blue') }))),
  stores: byName(
    some(
      fc.record({
        name,
        displayName: fc.constantFrom('one', 'two', 'three', 'four'),
        url: fc.constantFrom('x', 'y'),
        marks: fc.uniqueArray(name),
        secret: fc.boolean(),
      }),
    ),
  ).map(stores => [...new Map(stores.map(store => [store.displayName, store])).values()]),
  disks: byName(
    some(
      fc.record(
        {
          name,
          size: fc.constantFrom('1GiB', '2GiB'),
          format: fc.constantFrom('raw', 'qcow2'),
          store: name,
          marks: fc.uniqueArray(name),
        },
        { requiredKeys: ['name', 'size', 'format', 'marks'] },
      ),
    ),
  ),
})

/** References only to what is there. */
export function docsOf({ marks, stores, disks }: Wish): Doc[] {
  const marksThere = (names: readonly string[]) =>
    marked(...names.filter(name => marks.some(mark => mark.name === name)))
  return [
    doc('Group/always'),
    ...marks.map(({ name, color }) => doc(`Mark/${name}`, { color })),
    ...stores.map(({ name, displayName, url, marks, secret }) =>
      doc(`Store/${name}`, {
        name: displayName,
        url,
        ...(secret && { password: { secretRef: { key: 'k' } } }),
        ...marksThere(marks),
      }),
    ),
    ...disks.map(({ name, size, format, store, marks }) =>
      doc(`Disk/${name}`, {
        size,
        format,
        ...(stores.some(other => other.name === store) && { store: { name: store } }),
        ...marksThere(marks),
      }),
    ),
  ]
}
