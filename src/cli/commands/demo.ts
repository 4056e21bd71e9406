import { command } from '../command.ts'
import { flag, text } from '../parameter.ts'

export const demo = command({
  name: 'demo',
  group: 'Start',
  nature: 'service',
  summary: 'see it work on this computer: no root, nothing left behind',
  description: [
    'Brings the three machines of examples/homelab up, each below a directory of its own, and removes them when it is stopped. Their units are real processes; cairn node … --root .cairn/demo/atlas acts on them from another terminal.',
  ],
  options: {
    once: flag('--once', 'end when all machines are healthy; exit 6 when one is not'),
    directory: text('--directory DIR', 'where the machines are laid out; default .cairn/demo', 'directory'),
  },
  examples: [
    { line: 'cairn demo', about: 'Ctrl-C ends it' },
    { line: 'cairn demo --once --json', about: 'does it work here? for programs' },
  ],
  run: async (values, session) => (await import('./demo-run.ts')).runDemo(session, values),
})
