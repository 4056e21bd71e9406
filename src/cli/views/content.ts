// Content: what was pulled, what there is, what holds it up, and the processes behind it.
import type { BlobStatus, ContentError, ContentStatus, Isolation } from '../../content/messages.ts'
import { nextStep } from '../../content/next-step.ts'
import type { CheckedContent } from '../../content/node.ts'
import type { Unused } from '../../content/unused.ts'
import { type Cell, columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import { printSize } from '../../lib/size.ts'
import type { Style, Tone } from '../../lib/style.ts'
import { counted } from './words.ts'

export function printPulled(status: ContentStatus, style: Style): string {
  const { name, sha256 = '', blobs, totalSize, signedBy } = status
  const [root] = blobs
  return [
    style.paint('done', `${name} is verified: ${counted(blobs.length, 'blob')}, ${printSize(totalSize)}.`),
    ...columns(
      [
        ['digest', `sha256:${sha256}`],
        ...(signedBy ? [['signed', `by ${signedBy}`]] : []),
        ...(root?.role === 'blob' && root.path ? [['file', root.path]] : []),
      ],
      style,
    ),
    `Take it away again: cairn content rm ${shortDigest(sha256)}${style.where}`,
  ].join('\n')
}

export function printContentList(all: readonly ContentStatus[], style: Style): string {
  if (all.length === 0)
    return `No content is asked for here. The first comes with: cairn content pull REF${style.where}`
  const rows = all
    .toSorted(byName)
    .map(status => [
      signOf(status),
      status.name,
      stateText(status),
      { text: shortDigest(status.sha256 ?? ''), tone: 'dim' } as const,
      status.error ? errorText(status.error, style) : counted(status.blobs.length, 'blob'),
    ])
  return columns(rows, style, '').join('\n')
}

/** The headline answers; below it is every blob that is not there yet, and what it waits for. */
export function printExplained(status: ContentStatus, style: Style): string {
  return [
    `${style.paint(signOf(status).tone, status.name)}  ${stateText(status)}`,
    ...(status.error ? [`  ${errorText(status.error, style)}`] : []),
    ...(status.waitingForCerts ? ['  waits for a certificate that its signature needs'] : []),
    ...blobLines(status.blobs, style),
    ...nextLines(status),
  ].join('\n')
}

function nextLines({ error, waitingForCerts }: ContentStatus): string[] {
  const step = waitingForCerts ? nextStep({ code: 'signature.waiting' }) : error && nextStep(error)
  return step === undefined ? [] : [`Next: ${step}`]
}

export function blobLines(blobs: readonly BlobStatus[], style: Style): string[] {
  const rows = blobs.map(({ sha256, role, state, size, currentSize, error }): Cell[] => [
    signOf({ state, ...(error && { error }) }),
    shortDigest(sha256),
    role,
    (size > 0 && currentSize < size ? `${printSize(currentSize)} of ${printSize(size)}` : printSize(size)).padStart(8),
    error ? errorText(error, style) : state,
  ])
  return columns(rows, style)
}

export function printRemoved({ name, blobs }: ContentStatus, style: Style): string {
  return `${name} is no longer kept; ${counted(blobs.length, 'blob')} may go.\nWay back: cairn content pull ${name}${style.where}`
}

export function printChecked({ checked, damaged }: CheckedContent, style: Style): string {
  if (damaged.length === 0)
    return style.paint('done', `${counted(checked, 'blob')} hashed, all of them as they should be.`)
  return [
    style.paint('failed', `${damaged.length} of ${counted(checked, 'blob')} damaged and taken away:`),
    ...columns(
      damaged.map(({ sha256, reason }) => [{ text: '✗', tone: 'failed' }, shortDigest(sha256), reason]),
      style,
    ),
    `What needs them fetches them again: cairn content list${style.where}`,
  ].join('\n')
}

export function printCollected(
  { dryRun, unused }: { dryRun: boolean; unused: readonly Unused[] },
  style: Style,
): string {
  if (unused.length === 0) return 'Nothing to collect: everything here is asked for.'
  const size = unused.reduce((sum, one) => sum + one.size, 0)
  return [
    ...columns(
      unused.map(({ what, key, name, size: one }) => [
        { text: '-', tone: 'failed' },
        what,
        what === 'blob' ? shortDigest(key) : name,
        printSize(one).padStart(8),
        { text: what === 'blob' ? name : 'nobody claims it', tone: 'dim' },
      ]),
      style,
    ),
    `${dryRun ? 'Would free' : 'Freed'} ${printSize(size)}.`,
    ...(dryRun ? [`Nothing was changed. Do it: cairn content gc${style.where}`] : []),
  ].join('\n')
}

export function printProcesses(processes: readonly Isolation[], style: Style): string {
  const rows = processes
    .toSorted((a, b) => (a.process < b.process ? -1 : 1))
    .map((one): Cell[] => [
      { text: one.health === 'running' ? '●' : '◐', tone: one.health === 'running' ? 'done' : 'attention' },
      one.process,
      one.health,
      wallText(one),
    ])
  return columns(rows, style, '').join('\n')
}

function wallText({ process, permission, netns, ownUid, checked, proof, insecure, health, starts }: Isolation): string {
  if (health !== 'running') return `not running, after ${counted(starts, 'start')}`
  const walls = [
    ...(netns ? ['own network namespace'] : []),
    ...(permission ? ['Node permissions'] : []),
    ...(ownUid ? ['own user'] : []),
  ].join(', ')
  if (process === 'downloader') return `has the network; ${walls || 'no walls'}`
  if (insecure) return `NOT isolated: told to run so. ${walls}`
  return `no network${checked ? ` (tried: ${proof.join(', ')})` : ''}; ${walls}`
}

const shortDigest = (sha256: string): string => sha256.slice(0, 12)

const tones: Readonly<Record<ContentError['severity'], Tone>> = {
  notice: 'attention',
  warning: 'attention',
  error: 'failed',
}

function signOf({ state, error }: Pick<ContentStatus, 'state' | 'error'>): { text: string; tone: Tone } {
  if (error) return { text: error.severity === 'error' ? '✗' : '◐', tone: tones[error.severity] }
  if (['verified', 'loaded', 'created'].includes(state)) return { text: '●', tone: 'done' }
  return { text: state === 'initial' ? '○' : '◐', tone: 'attention' }
}

function stateText({ state, progress, currentSize, totalSize }: ContentStatus): string {
  if (['verified', 'loading', 'loaded'].includes(state)) return `${state}  ${printSize(totalSize)}`
  const amount = totalSize > 0 ? `${printSize(currentSize)} of ${printSize(totalSize)}` : printSize(currentSize)
  return `${state}  ${progress === undefined ? amount : `${progress} %, ${amount}`}`
}

export function errorText({ text, retryAt }: ContentError, { now }: Style): string {
  return retryAt === undefined ? text : `${text}; next try ${relativeTime(new Date(retryAt), now)}`
}

const byName = (a: ContentStatus, b: ContentStatus) => (a.name < b.name ? -1 : 1)
