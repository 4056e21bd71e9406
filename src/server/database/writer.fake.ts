// A process that makes one stack after the other and says each id once it is acknowledged, until it is killed.
import { makeId } from '../../lib/id.ts'
import { temporaryDatabase } from './temporary.fake.ts'

const { store } = await temporaryDatabase({ dataDirectory: process.argv[2]! })
for (;;) {
  const [id, at] = [makeId(new Date()), new Date().toISOString()]
  await store.transaction(tx =>
    tx.insertStack({
      id,
      name: 'web',
      description: 'x'.repeat(1000),
      createdAt: at,
      updatedAt: at,
      revision: 1,
      state: 'active',
      config: { urls: [] },
      resources: [],
      sources: [],
    }),
  )
  process.stdout.write(`${id}\n`)
}
