// A process of its own with a runner, for tests that kill it: opens the root that it is told, starts the unit, says so, waits.
import type { UnitName } from '../../names.ts'
import { openRunner } from './runner.ts'
import { serveRunner } from './server.ts'

const [root = '', unit = ''] = process.argv.slice(2)
const runner = await openRunner({ root })
await serveRunner(runner, { root })
await runner.run([{ do: 'start', unit: unit as UnitName, timeoutMs: 10_000 }])
process.on('SIGTERM', () => process.exit(0))
console.log('up')
