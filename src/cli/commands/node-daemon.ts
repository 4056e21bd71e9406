import { command } from '../command.ts'
import { contentOptions, contentOptionsOf } from '../content.ts'
import { thisMachine } from '../node.ts'

export const nodeDaemon = command({
  name: 'node daemon',
  group: thisMachine,
  nature: 'service',
  summary: 'keep the content processes running',
  description: [
    'Runs the downloader, the verifier and the volume manager, restarts what dies, and answers other cairn commands on run/cairn/agent.sock. Without it each command that needs them starts them for its own time.',
    'packaging/systemd has units that run it walled in.',
  ],
  options: contentOptions,
  examples: [{ line: 'cairn node daemon', about: 'Ctrl-C ends it; work goes on where it was' }],
  run: async (values, session) => {
    const { runDaemon } = await import('../daemon.ts')
    return runDaemon(session, contentOptionsOf(values, session))
  },
})
