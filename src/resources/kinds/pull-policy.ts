import * as z from 'zod'
import { durationOrProblem } from '../../lib/duration.ts'
import { duration, setOf } from '../fields.ts'
import { type BrokenRule, defineKind } from '../kind.ts'
import { placement, tolerationRules } from '../pull-fields.ts'
import { timeOfDay, timezone } from '../texts.ts'

const windowSchema = z.strictObject({
  days: setOf(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']))
    .min(1)
    .optional()
    .describe('On which a window begins; default every day.'),
  start: timeOfDay().describe('When it opens: 22:00.'),
  end: timeOfDay().describe('When it closes; before start: on the next day.'),
  timezone: timezone().default('UTC').describe('Of start and end.'),
})

const spec = z.strictObject({
  maxConcurrentNodes: z.number().int().min(1).default(1).describe('The most pulls at once within the scope.'),
  maxConcurrentPulls: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('The most pulls at once over all images and policies; default no such cap.'),
  minDelayBetweenPulls: duration()
    .default('10s')
    .describe('The least time between two starts within the scope; 0s: none.'),
  failureBackoff: z
    .strictObject({
      initial: duration().default('30s').describe('After the first failure.'),
      max: duration().default('5m').describe('The longest.'),
    })
    .default({ initial: '30s', max: '5m' })
    .describe('How long a machine waits after a failed pull of an image; doubles each time.'),
  repullInterval: duration().optional().describe('After this long an image is pulled again; default never.'),
  ...placement,
  scope: z
    .enum(['All', 'Policy', 'Image'])
    .default('All')
    .describe('What is counted: all images, those of this policy, or each image on its own.'),
  pullTimeout: duration().default('30m').describe('A pull that takes longer is given up.'),
  paused: z.boolean().default(false).describe('Nothing new is started; what runs is finished.'),
  windows: z.array(windowSchema).default([]).describe('Times in which pulls may start; none means always.'),
})

export const pullPolicy = defineKind({
  kind: 'PullPolicy',
  summary: 'how fast images are pulled',
  description: ['Keeps registries and links alive: how many pulls at once, how far apart, and when at all.'],
  displayName: { unique: true, least: 1, most: 253 },
  spec,
  rules: found => {
    const { failureBackoff, pullTimeout, windows = [], tolerations } = found as z.input<typeof spec>
    return [
      ...backoffRules(failureBackoff),
      ...(pullTimeout !== undefined && durationOrProblem(pullTimeout, '') === 0 ? [noTimeout] : []),
      ...windows.flatMap(({ start, end }, index) => (start === end ? [emptyWindow(index)] : [])),
      ...tolerationRules(tolerations),
    ]
  },
  columns: [
    { title: 'MAX NODES', value: ({ spec }) => String(spec.maxConcurrentNodes ?? '') },
    { title: 'MAX PULLS', value: ({ spec }) => String(spec.maxConcurrentPulls ?? '') },
    { title: 'MIN DELAY', value: ({ spec }) => String(spec.minDelayBetweenPulls ?? '') },
    { title: 'REPULL', value: ({ spec }) => String(spec.repullInterval ?? '') },
  ],
  example: `apiVersion: cairn.dev/v1
kind: PullPolicy
metadata:
  name: gentle
spec:
  maxConcurrentNodes: 2
  minDelayBetweenPulls: 5s
  repullInterval: 1d
  windows:
    - { days: [sat, sun], start: "22:00", end: "06:00", timezone: Europe/Vienna }
`,
})

function backoffRules({ initial = '30s', max = '5m' }: z.input<typeof spec>['failureBackoff'] = {}): BrokenRule[] {
  if (durationOrProblem(initial, '') <= durationOrProblem(max, '')) return []
  return [{ path: ['failureBackoff', 'initial'], code: 'value.range', reason: `must be at most max, which is ${max}` }]
}

const noTimeout: BrokenRule = { path: ['pullTimeout'], code: 'value.range', reason: 'must be longer than 0s' }

const emptyWindow = (index: number): BrokenRule => ({
  path: ['windows', index, 'end'],
  code: 'value.range',
  reason: 'must differ from start',
  hint: 'Leave the window out when pulls may start at any time.',
})
