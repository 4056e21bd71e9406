// What the supervisor does for the processes, done by the process itself: here nothing forbids it.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Durability } from '../../src/content/process/context.ts'

export const ownDurability: Durability = {
  sync: async (directory, names) => {
    for (const path of [...names.map(name => join(directory, name)), directory]) {
      const handle = await open(path)
      await handle.sync().finally(() => handle.close())
    }
  },
}
