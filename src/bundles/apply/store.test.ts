import { testKinds } from '../validate/kinds.fake.ts'
import { memoryPlatform } from './platform.fake.ts'
import { platformSuite } from './platform.suite.ts'
import { memoryStore } from './store.fake.ts'
import { storeSuite } from './store.suite.ts'

const close = async () => {}

storeSuite('memory', async clock => {
  const platform = memoryPlatform({ kinds: testKinds, transaction: 'shared', clientIds: true, clock })
  return { store: memoryStore({ clock, platform }), platform, close }
})

platformSuite('shared memory', async clock => {
  const platform = memoryPlatform({ kinds: testKinds, transaction: 'shared', clientIds: true, clock })
  const store = memoryStore({ clock, platform })
  return {
    platform,
    close,
    write: async writes => {
      await store.transaction(tx => tx.write(writes))
      return []
    },
  }
})

for (const clientIds of [true, false])
  platformSuite(`memory with a journal, ${clientIds ? 'our' : 'its own'} ids`, async clock => {
    const platform = memoryPlatform({ kinds: testKinds, transaction: 'journal', clientIds, clock })
    return {
      platform,
      close,
      write: async writes => {
        const all = []
        for (const write of writes) all.push(await platform.write!(write, new AbortController().signal))
        return all
      },
    }
  })
