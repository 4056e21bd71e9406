import { answer, command } from '../command.ts'
import { readInput } from '../input.ts'
import { configOptions, nodeOptions, nodeOptionsOf, overwriteDrift, thisMachine, whereOf } from '../node.ts'
import { flag } from '../parameter.ts'

export const nodePlan = command({
  name: 'node plan',
  group: thisMachine,
  nature: 'question',
  summary: 'show what apply would change, and why',
  description: [
    'Prepares the config in the store, compares it with this machine, and shows packages, the content of files below /etc, and what each unit would go through with the reason for it. /etc and units stay as they are.',
    'Exit code 4 when apply would refuse: something below /etc was not made by Cairn, or was edited.',
  ],
  options: {
    ...configOptions,
    exitCode: flag('--exit-code', 'exit 2 when there are changes'),
    overwriteDrift,
    ...nodeOptions,
  },
  examples: [
    { line: 'cairn node plan -f overlay.json', about: 'what would change' },
    { line: 'cairn node plan -f overlay.json --exit-code', about: 'for scripts: 0 as declared, 2 changes' },
    { line: 'cairn node plan -f overlay.json --json', about: 'for programs: {etc, units, packages}' },
  ],
  run: async (values, session) => {
    const { planNode } = await import('../../overlay/node.ts')
    const { exitOfPlan, planToJson, printPlan } = await import('../views/plan.ts')
    const input = await readInput(values.file, session.terminal)
    const report = await planNode(input, { ...values, ...nodeOptionsOf(values, session) })
    const exit = exitOfPlan(report, values)
    return answer({ report, print: printPlan, json: planToJson(report), exit, where: whereOf(values) })
  },
})
