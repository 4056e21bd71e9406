// A bundle's plan for people: what drifted first, then one line for each resource with its reason, changed fields below it,
// what stands in the way, and always a last line with the counts. Computed elsewhere; here it is only printed.
import type { Action, Change, Confirmation, Plan } from '../../bundles/model/plan.ts'
import type { PlanAnswer } from '../../bundles/request.ts'
import { type Cell, columnRows, columns, wrap } from '../../lib/columns.ts'
import { diffText } from '../../lib/diff.ts'
import { renderWarnings } from '../../lib/render.ts'
import type { Style, Tone } from '../../lib/style.ts'
import type { ExitCode } from '../exit.ts'
import { confirmationFlags, counted } from './words.ts'

const signs: Readonly<Record<Action['action'], readonly [sign: string, tone: Tone]>> = {
  create: ['+', 'done'],
  update: ['~', 'attention'],
  replace: ['±', 'attention'],
  adopt: ['>', 'attention'],
  forget: ['.', 'dim'],
  delete: ['-', 'failed'],
  none: [' ', 'dim'],
}

/** Deletes stand last. */
const order = ['create', 'adopt', 'update', 'replace', 'forget', 'delete'] as const

export function printBundlePlan(answer: PlanAnswer, style: Style): string {
  const { plan, summary, warnings } = answer
  const blocks = [
    driftLines(plan, style),
    actionLines(plan, style),
    secretLines(plan, style),
    blockerLines(plan, style),
    missingLines(summary, style),
    renderWarnings(warnings, style),
    closingLines(plan, style),
  ]
  return blocks
    .filter(block => block.length > 0)
    .map(block => block.join('\n'))
    .join('\n\n')
}

export function exitOfBundlePlan({ plan, problems }: PlanAnswer, { exitCode = false } = {}): ExitCode {
  if (problems.length > 0) return 3
  if (plan.blockers.length > 0) return 4
  return exitCode && changesIn(plan) ? 2 : 0
}

export const changesIn = ({ actions, associations, secrets }: Plan): boolean =>
  actions.some(({ action }) => action !== 'none') ||
  associations.some(({ action }) => action === 'create' || action === 'delete') ||
  secrets.length > 0

/** What `stacks refresh` found. */
export function printDrift(
  { drift, stack, accepted }: { readonly drift: Plan['drift']; readonly stack: string; readonly accepted: boolean },
  style: Style,
): string {
  if (drift.length === 0) return `Stack ${stack} is as it was applied.`
  const closing = accepted
    ? 'The record follows what is live. The bundle may differ: cairn plan shows it.'
    : `cairn apply brings it back; cairn stacks refresh ${stack} --accept lets the record follow.`
  return [...driftLines({ drift }, style), '', ...wrap(closing, style.width)].join('\n')
}

function driftLines({ drift }: Pick<Plan, 'drift'>, style: Style): string[] {
  if (drift.length === 0) return []
  const rows = drift.map(({ kind, name, gone }): Cell[] => [
    { text: gone ? '-' : '~', tone: 'attention' },
    `${kind}/${name}`,
    { text: gone ? 'deleted' : '', tone: 'dim' },
  ])
  const lines = columnRows(rows, style).flatMap((row, index) => [
    ...row,
    ...changeLines((drift[index]?.changes ?? []).map(asFound), style),
  ])
  return [style.paint('strong', 'Changed outside Cairn since the last apply'), ...lines]
}

/** The heading says that it is drift. */
const asFound = (change: Change): Change => ({ ...change, why: 'bundle' })

function actionLines(plan: Plan, style: Style): string[] {
  const shown = order.flatMap(word => plan.actions.filter(({ action }) => action === word))
  const associations = plan.associations.filter(({ action }) => action !== 'none')
  if (shown.length + associations.length === 0) return []
  const drifted = new Set(plan.drift.map(({ kind, name }) => `${kind}/${name}`))
  const rows = shown.map((action): Cell[] => {
    const [sign, tone] = signs[action.action]
    return [
      { text: sign, tone },
      titleOf(action),
      { text: action.reason, tone: action.action === 'delete' ? 'failed' : 'dim' },
    ]
  })
  const lines = columnRows(rows, style).flatMap((row, index) => {
    const action = shown[index]!
    const onlyDrift = drifted.has(`${action.kind}/${action.name}`) && action.changes.every(({ why }) => why === 'drift')
    return [...row, ...(onlyDrift ? [] : detailLines(action, style))]
  })
  const links = associations.map(({ action, from, to, why }): Cell[] => [
    action === 'create' ? { text: '+', tone: 'done' } : { text: action === 'delete' ? '-' : '.', tone: 'failed' },
    `${endOf(from)} ↔ ${endOf(to)}`,
    { text: why === 'skipped' ? 'dropped: the other end is skipped' : why === 'drift' ? 'drift' : '', tone: 'dim' },
  ])
  return [style.paint('strong', headingOf(plan)), ...lines, ...columns(links, style), ...legend(shown, style)]
}

const headingOf = ({ stack }: Plan): string =>
  stack === null
    ? 'Plan without a stack'
    : `Plan for ${stack.id === undefined ? 'the new stack' : 'stack'} ${stack.name}`

const titleOf = ({ kind, name, displayName, movedFrom }: Action): string =>
  `${kind}/${name}${displayName === name ? '' : ` "${displayName}"`}${movedFrom === undefined ? '' : ` (was ${movedFrom})`}`

const endOf = ({
  kind,
  name,
  external,
}: {
  kind: string
  name?: string | undefined
  external?: string | undefined
}): string => (name === undefined ? `${kind} "${external}"` : `${kind}/${name}`)

function detailLines(action: Action, style: Style): string[] {
  if (action.action !== 'update' && action.action !== 'replace' && action.action !== 'adopt') return []
  const rest =
    action.unchangedFields > 0
      ? [style.paint('dim', `      ${counted(action.unchangedFields, 'field')} unchanged`)]
      : []
  return [...changeLines(action.changes, style), ...rest]
}

function changeLines(changes: readonly Change[], style: Style): string[] {
  return changes.flatMap(change => {
    const note = noteOf(change)
    const text = longText(change)
    if (text) return [`      ${change.path}:${note}`, ...text.map(line => `        ${paintedDiff(line, style)}`)]
    const last = change.last === undefined ? '' : `, last applied ${valueText(change.last)}`
    const line = `${change.path}: ${valueText(change.old)} → ${valueText(change.new)}${last}${note}`
    return wrap(line, style.width - 8).map((part, index) => `${index === 0 ? '      ' : '        '}${part}`)
  })
}

function noteOf({ why, forcesReplacement }: Change): string {
  const notes = [
    ...(forcesReplacement ? ['forces replacement'] : []),
    ...(why === 'drift'
      ? ['drift']
      : why === 'both'
        ? ['changed in both']
        : why === 'default'
          ? ['back to its default']
          : []),
  ]
  return notes.length > 0 ? `  (${notes.join(', ')})` : ''
}

/** Text of several lines is shown as a diff of lines. */
function longText({ old, new: wanted }: Change): string[] | null {
  if (typeof old !== 'string' || typeof wanted !== 'string' || !`${old}${wanted}`.includes('\n')) return null
  return diffText(Buffer.from(old), Buffer.from(wanted))
}

const paintedDiff = (line: string, style: Style): string =>
  style.paint(line.startsWith('+') ? 'done' : line.startsWith('-') ? 'failed' : 'dim', line)

const longestValue = 200

function valueText(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'string' && /^[\w.:/@+ ()-]+$/.test(value) ? value : flowText(value)
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}

/** As YAML writes it on one line: `[edge, test]`. */
function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${valueText(item)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}

function legend(shown: readonly Action[], style: Style): string[] {
  const used = order.filter(word => shown.some(({ action }) => action === word))
  if (used.length < 2) return []
  const words = used.map(word => `${signs[word][0]} ${word}`).join('   ')
  return ['', ...wrap(words, style.width - 2).map(line => style.paint('dim', `  ${line}`))]
}

function secretLines({ secrets }: Plan, style: Style): string[] {
  if (secrets.length === 0) return []
  const rows = secrets.map(({ key, action }): Cell[] => [
    { text: action === 'create' ? '+' : '~', tone: action === 'create' ? 'done' : 'attention' },
    key,
    { text: action === 'create' ? 'new' : 'changed', tone: 'dim' },
  ])
  return [style.paint('strong', 'Secrets'), ...columns(rows, style)]
}

function blockerLines({ blockers }: Plan, style: Style): string[] {
  if (blockers.length === 0) return []
  const rows = blockers.flatMap(({ path, reason, hint }): Cell[][] => [
    [{ text: '✗', tone: 'failed' }, [path, reason].filter(Boolean).join('  ')],
    ...(hint ? [['', { text: hint, tone: 'dim' } as const]] : []),
  ])
  return [style.paint('strong', 'In the way'), ...columns(rows, style)]
}

function missingLines({ missingEnvRefs, missingSecrets }: PlanAnswer['summary'], style: Style): string[] {
  const rows = [
    ...missingEnvRefs.map((key): Cell[] => [
      { text: '?', tone: 'attention' },
      `value ${key}`,
      { text: `--env ${key}=…`, tone: 'dim' },
    ]),
    ...missingSecrets.map((key): Cell[] => [
      { text: '?', tone: 'attention' },
      `secret ${key}`,
      { text: `--secret ${key}`, tone: 'dim' },
    ]),
  ]
  return rows.length === 0 ? [] : [style.paint('strong', 'Apply needs'), ...columns(rows, style)]
}

function closingLines(plan: Plan, style: Style): string[] {
  const sentence = sentenceOf(plan)
  return [
    ...wrap(countsLine(plan), style.width),
    ...(sentence ? wrap(sentence, style.width) : []),
    ...plan.needs.flatMap(need => wrap(`${needText(need, plan)} needs ${confirmationFlags[need]}.`, style.width)),
  ]
}

/** The words that every plan ends with; zero deletes are said, other zeros are not. */
function countsLine({ counts, associations }: Plan): string {
  const words = (['adopt', 'create', 'update', 'replace', 'forget'] as const).flatMap(word =>
    counts[word] > 0 ? [`${counts[word]} ${word}`] : [],
  )
  const links = associations.filter(({ action }) => action === 'create' || action === 'delete').length
  return `Plan: ${[...words, `${counts.delete} delete`, `${counts.unchanged} unchanged`].join(', ')}${links > 0 ? `; ${counted(links, 'association')}` : ''}.`
}

function sentenceOf(plan: Plan): string {
  if (plan.blockers.length > 0) return 'Apply would refuse this. Nothing was changed.'
  if (plan.actions.length === 0) return 'The stack is empty, and so is the bundle.'
  if (!changesIn(plan))
    return plan.stack?.id === undefined ? 'Nothing to do.' : `No changes. Stack ${plan.stack.name} is as declared.`
  const isDriftOnly = plan.actions.every(
    ({ action, why }) => action === 'none' || why === 'drifted' || why === 'deleted outside',
  )
  return isDriftOnly ? 'The bundle is as it was applied; apply brings back what changed outside.' : ''
}

function needText(need: Confirmation, { actions, counts }: Plan): string {
  if (need === 'massDelete')
    return `Deleting ${counts.delete} of ${actions.filter(({ id }) => id !== undefined).length} resources`
  const lost = actions.filter(
    ({ action, destroysData }) => destroysData && (action === 'delete' || action === 'replace'),
  )
  return `Deleting ${lost.map(({ kind, name }) => `${kind}/${name}`).join(', ')}, whose data will be lost,`
}
