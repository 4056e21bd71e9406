import { planOptions, sourceOptions, valueOptions } from '../bundle-input.ts'
import { command } from '../command.ts'
import { duration, flag, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const apply = command({
  name: 'apply',
  group: bundleGroup,
  nature: 'server',
  summary: 'make it so: all of a bundle, or nothing',
  description: [
    'Plans, shows the plan, asks once, and does exactly that plan. When something fails everything goes back to what it was. Applying the same again does nothing at all.',
    'On a terminal it asks for values and secrets that are missing. Elsewhere it needs --yes. What loses data, or deletes most of a stack, needs its own flag besides.',
  ],
  options: {
    ...sourceOptions,
    ...valueOptions,
    ...planOptions,
    plan: text('--plan FILE', 'do exactly this plan, saved by cairn plan -o', 'file'),
    yes: flag('-y, --yes', 'do not ask'),
    allowMassDelete: flag('--allow-mass-delete', 'delete all of a stack, or most of a large one'),
    allowDataLoss: flag('--allow-data-loss', 'delete what holds data that cannot be made again'),
    noStack: flag('--no-stack', 'record nothing, delete nothing'),
    lockWait: duration('--lock-wait DURATION', 'wait this long for another operation on the stack; default 0s'),
    wait: duration('--wait DURATION', 'then wait until everything is ready; exit 6 when it is not in time'),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn apply -f homelab/', about: 'the first time it makes the stack homelab' },
    { line: 'cairn apply -f homelab/ --yes', about: 'again: does nothing when nothing changed' },
    { line: 'cairn apply --plan homelab.plan --yes', about: 'exactly the plan that was looked at' },
    { line: 'cairn apply -f db.yaml --secret-file db-password=./pw --yes', about: 'with the value of a secretRef' },
  ],
  run: async (values, session) => (await import('../apply-bundle.ts')).applyBundle(values, session),
})
