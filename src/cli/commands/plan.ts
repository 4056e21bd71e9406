import { planOptions, sourceOptions, valueOptions } from '../bundle-input.ts'
import { answer, command } from '../command.ts'
import { flag, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const plan = command({
  name: 'plan',
  group: bundleGroup,
  nature: 'question',
  summary: 'show what apply would change, and why',
  description: [
    'Compares what was applied last, what is live and what the bundle says. What changed outside stands apart and first; deletes stand last.',
    'A plan saved with -o binds: cairn apply --plan does exactly that, or refuses and names what moved.',
  ],
  options: {
    ...sourceOptions,
    ...valueOptions,
    ...planOptions,
    noStack: flag('--no-stack', 'as an apply without a stack: nothing recorded, nothing deleted'),
    out: text('-o, --out FILE', 'save the plan', 'file'),
    exitCode: flag('--exit-code', 'exit 2 when there are changes'),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn plan -f homelab/', about: 'what would change' },
    {
      line: 'cairn plan -f homelab/ -o homelab.plan',
      about: 'keep it; then cairn apply --plan homelab.plan',
    },
    { line: 'cairn plan -f homelab/ --exit-code', about: 'for scripts: 0 as declared, 2 changes' },
  ],
  run: async (values, session) => {
    const { planBundle } = await import('../bundle-commands.ts')
    const { exitOfBundlePlan, printBundlePlan } = await import('../views/bundle-plan.ts')
    const { printValidation } = await import('../views/validation.ts')
    const report = await planBundle(values, session)
    const print = report.problems.length > 0 ? printValidation : printBundlePlan
    return answer({ report, print, exit: exitOfBundlePlan(report, values) })
  },
})
