// Stacks as lists and one by one, their history, and what an operation on one did.
import type { Stack, StackEvent } from '../../bundles/model/stack.ts'
import type { Outcome } from '../../bundles/request.ts'
import { type Cell, columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import type { Style, Tone } from '../../lib/style.ts'
import type { ExitCode } from '../exit.ts'
import { counted } from './words.ts'

type ShownStack = Stack & {
  readonly lock: { readonly holder: string; readonly operation: string; readonly since: string } | null
  readonly live: readonly { readonly displayName: string | null; readonly state: 'live' | 'gone' | 'unreadable' }[]
}

const tones: Readonly<Record<Stack['state'], Tone>> = { active: 'done', uninstalled: 'dim', degraded: 'failed' }

export function printStackList(stacks: readonly Stack[], style: Style): string {
  if (stacks.length === 0) return 'No stacks yet. cairn apply -f BUNDLE makes one.'
  const rows = stacks.map(({ name, id, state, resources, updatedAt }): Cell[] => [
    name,
    { text: id, tone: 'dim' },
    { text: state, tone: tones[state] },
    counted(resources.length, 'resource'),
    { text: relativeTime(new Date(updatedAt), style.now), tone: 'dim' },
  ])
  return columns(rows, style, '').join('\n')
}

export function printStack(stack: ShownStack, style: Style): string {
  const { name, id, description, state, config, resources, live, lock, createdAt, updatedAt, leftovers = [] } = stack
  const facts: Cell[][] = [
    ['id', id],
    ...(description === '' ? [] : [['description', description]]),
    ['state', { text: state, tone: tones[state] }],
    ['made', relativeTime(new Date(createdAt), style.now)],
    ['changed', relativeTime(new Date(updatedAt), style.now)],
    ...config.urls.map(url => ['url', url]),
    ...(config.reconcile === undefined ? [] : [['reconcile', `drift is corrected every ${config.reconcile}`]]),
    ...(lock === null
      ? []
      : [['locked', `by ${lock.holder}: ${lock.operation}, ${relativeTime(new Date(lock.since), style.now)}`]]),
  ]
  const rows = resources.map((resource, index): Cell[] => {
    const one = live[index]
    const gone = one?.state === 'live' ? '' : (one?.state ?? 'gone')
    return [
      gone === '' ? ' ' : { text: '✗', tone: 'failed' },
      `${resource.kind}/${resource.name}`,
      one?.displayName && one.displayName !== resource.name ? `"${one.displayName}"` : '',
      { text: [gone, ...policyOf(resource)].filter(Boolean).join(', '), tone: 'dim' },
    ]
  })
  const left = leftovers.map(({ path, reason }): Cell[] => [
    { text: '✗', tone: 'failed' },
    [path, reason].filter(Boolean).join('  '),
  ])
  return [
    style.paint('strong', name),
    ...columns(facts, style),
    '',
    resources.length === 0 ? 'It owns no resources.' : style.paint('strong', counted(resources.length, 'resource')),
    ...columns(rows, style),
    ...(left.length === 0
      ? []
      : ['', style.paint('strong', 'Left behind by an undo that could not be finished'), ...columns(left, style)]),
  ].join('\n')
}

const policyOf = ({ adopted, lifecycle }: Stack['resources'][number]): string[] => [
  ...(adopted ? ['adopted'] : []),
  ...(lifecycle.onRemove && lifecycle.onRemove !== 'delete' ? [lifecycle.onRemove] : []),
]

export function printHistory(events: readonly StackEvent[], style: Style): string {
  if (events.length === 0) return 'Nothing has happened yet.'
  const rows = events.map(({ seq, type, at, by, outcome }): Cell[] => [
    { text: String(seq), tone: 'dim' },
    { text: type, tone: type === 'rollback' ? 'failed' : 'strong' },
    relativeTime(new Date(at), style.now),
    by,
    outcome,
  ])
  return columns(rows, style, '').join('\n')
}

export function exitOfOutcome({ did }: Outcome): ExitCode {
  return did === 'rolled back' ? 1 : did === 'rollback incomplete' ? 5 : 0
}

export function printOutcome(outcome: Outcome, style: Style, done: string): string {
  switch (outcome.did) {
    case 'nothing':
      return 'No changes.'
    case 'applied':
      return style.paint('done', done)
    case 'rolled back':
      return [
        style.paint('failed', 'Failed. Everything is as it was before.'),
        ...columns(outcome.failures.map(problemRow), style),
      ].join('\n')
    case 'rollback incomplete':
      return [
        style.paint('failed', 'Failed, and not everything could be taken back.'),
        ...columns(outcome.failures.map(problemRow), style),
        style.paint('strong', 'Left behind'),
        ...columns(outcome.leftovers.map(problemRow), style),
        'The next apply starts from what is live now.',
      ].join('\n')
  }
}

const problemRow = ({ path, reason, hint }: { path: string; reason: string; hint?: string | undefined }): Cell[] => [
  { text: '✗', tone: 'failed' },
  [path, reason, hint].filter(Boolean).join('  '),
]
