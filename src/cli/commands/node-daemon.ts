import { command } from '../command.ts'
import { contentOptions, contentOptionsOf } from '../content.ts'
import { thisMachine } from '../node.ts'
import { choice, flag } from '../parameter.ts'
import { UsageError } from '../usage.ts'

export const nodeDaemon = command({
  name: 'node daemon',
  group: thisMachine,
  nature: 'service',
  summary: 'keep the content processes running',
  description: [
    'Runs the downloader, the verifier and the volume manager, restarts what dies, and answers other cairn commands on run/cairn/agent.sock. Without it each command that needs them starts them for its own time.',
    'With --units it starts none of them: each is a unit of systemd of its own, sandboxed, and joins on run/cairn/NAME.sock by --process NAME. packaging/systemd has all four units.',
  ],
  options: {
    units: flag('--units', 'start no process; wait for those that systemd runs as units'),
    process: choice('--process NAME', 'run this one only, walled in, for a daemon with --units', [
      'downloader',
      'verifier',
      'manager',
    ]),
    ...contentOptions,
  },
  examples: [
    { line: 'cairn node daemon', about: 'Ctrl-C ends it; work goes on where it was' },
    { line: 'cairn node daemon --units', about: 'what cairn-content.service runs' },
  ],
  run: async (values, session) => {
    const { units = false, process: name } = values
    if (units && name !== undefined)
      throw new UsageError('usage.bad-value', '--units and --process are not for the same daemon', {
        hint: 'One daemon runs with --units; each of its processes with --process NAME.',
      })
    const { runDaemon, runOneProcess } = await import('../daemon.ts')
    const options = contentOptionsOf(values, session)
    return name === undefined ? runDaemon(session, { ...options, units }) : runOneProcess(session, name, options)
  },
})
