import type { MovableClock } from './clock.fake.ts'
import { engineSuite } from './engine.suite.ts'
import { memoryPorts } from './ports.fake.ts'

const close = async () => {}

engineSuite('shared memory', async clock => ({ ports: memoryPorts({ clock: clock as MovableClock }), close }))

for (const clientIds of [true, false])
  engineSuite(`memory with a journal, ${clientIds ? 'our' : 'its own'} ids`, async clock => ({
    ports: memoryPorts({ transaction: 'journal', clientIds, clock: clock as MovableClock }),
    close,
  }))
