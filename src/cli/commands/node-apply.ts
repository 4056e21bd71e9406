import { answer, command } from '../command.ts'
import { readInput } from '../input.ts'
import {
  configOptions,
  dedup,
  nodeOptions,
  nodeOptionsOf,
  noSystemd,
  overwriteDrift,
  thisMachine,
  whereOf,
} from '../node.ts'
import { duration, flag } from '../parameter.ts'

export const nodeApply = command({
  name: 'node apply',
  group: thisMachine,
  nature: 'machine',
  summary: 'make this machine what a config says',
  description: [
    'Prepares the config, then switches /etc to it in one step and stops, reloads, restarts and starts the units that the change touches, and no others. When units or checks fail, the generation before comes back by itself.',
    'A second apply of the same config does nothing. What Cairn did not make is never changed: a conflict ends the apply before it begins.',
  ],
  options: {
    ...configOptions,
    confirmWithinMs: duration('--confirm-within D', 'go back unless cairn node confirm comes in this time: 90s, 5m'),
    keepFailed: flag('--no-rollback', 'keep a generation whose units or checks fail'),
    test: flag('--test', 'switch, but let the next boot bring back the generation before'),
    overwriteDrift,
    verify: flag('--verify', 'hash every package before the switch'),
    dedup,
    noSystemd,
    detach: flag('--detach', 'run in a systemd unit of its own and return at once'),
    ...nodeOptions,
  },
  examples: [
    { line: 'cairn node apply -f overlay.json', about: 'make it so' },
    { line: 'cairn node apply -f overlay.json --confirm-within 60s', about: 'over ssh: a lockout undoes itself' },
    { line: 'cairn node apply -f overlay.json --root ./try', about: 'a try without root' },
  ],
  run: async (values, session) => {
    if (values.detach) {
      const { detach } = await import('../detach.ts')
      const { printDetached } = await import('../views/detach.ts')
      return answer({ report: await detach(session.argv, values.file), print: printDetached })
    }
    const { applyNode } = await import('../../overlay/node.ts')
    const { exitOfApply, printApply } = await import('../views/apply.ts')
    const input = await readInput(values.file, session.terminal)
    const report = await applyNode(input, { ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printApply, exit: exitOfApply(report), where: whereOf(values) })
  },
})
