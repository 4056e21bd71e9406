import { RefusedError } from '../../lib/errors.ts'
import { answer, command, type Session } from '../command.ts'
import { nodeOptions, nodeOptionsOf, noSystemd, thisMachine, whereOf } from '../node.ts'
import { flag } from '../parameter.ts'

export const nodeUninstall = command({
  name: 'node uninstall',
  group: thisMachine,
  nature: 'machine',
  summary: 'stop our units and give /etc back as it was',
  description: [
    'Stops the units that Cairn brought, removes its entries below /etc and puts back what stood there before the first apply. The store stays, unless --purge removes that too. Asks first; where nobody can answer, it needs --yes.',
  ],
  options: {
    purge: flag('--purge', 'remove the store too, with all generations and content; refused while there are volumes'),
    yes: flag('--yes', 'do not ask'),
    noSystemd,
    ...nodeOptions,
  },
  examples: [
    { line: 'cairn node uninstall', about: 'give the machine back' },
    { line: 'cairn node uninstall --purge --yes --root ./try', about: 'end a try' },
  ],
  run: async (values, session) => {
    if (!values.yes) await confirmed(values.purge === true, session)
    const { uninstallNode } = await import('../../overlay/node.ts')
    const { exitOfApply, printUninstall } = await import('../views/apply.ts')
    const report = await uninstallNode({ ...values, ...nodeOptionsOf(values, session) })
    return answer({ report, print: printUninstall, exit: exitOfApply(report), where: whereOf(values) })
  },
})

/** Destroying needs a word, not a key. */
async function confirmed(purge: boolean, { terminal, json }: Session) {
  const word = purge ? 'purge' : 'uninstall'
  const what = purge
    ? 'Units stop, /etc is given back, all packages and generations are deleted.'
    : 'Units stop, /etc is given back.'
  const given = terminal.ask && !json ? await terminal.ask(`${what} Type ${word} to go on: `) : null
  if (given?.trim() === word) return
  throw new RefusedError('uninstall.not-confirmed', 'uninstall was not confirmed', {
    hint: given === null ? 'Nobody can be asked here; say --yes.' : `It goes on only after the word ${word}.`,
  })
}
