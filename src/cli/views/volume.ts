// Volumes: one of them in full, or all of them in a line each.
import type { VolumeStatus } from '../../content/messages.ts'
import { reached } from '../../content/state.ts'
import { type Cell, columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import { printSize } from '../../lib/size.ts'
import type { Style } from '../../lib/style.ts'
import { blobLines, errorText } from './content.ts'

export function printVolume(volume: VolumeStatus, style: Style): string {
  const { displayName, state, path, content, error, kind, format, readOnly, maxSize, usedSize } = volume
  const isMade = state === 'created'
  const what = kind === 'container' ? 'container root' : `${format} disk`
  return [
    style.paint(
      isMade ? 'done' : 'attention',
      `${displayName} is ${isMade ? 'ready' : state}: a ${readOnly ? 'read-only' : 'read/write'} ${what}.`,
    ),
    ...columns(
      [
        ...(path ? [[kind === 'container' ? 'directory' : 'file', path]] : []),
        ['size', `${maxSize > 0 ? `${printSize(maxSize)}, ` : ''}${printSize(usedSize)} on disk`],
        ['generation', String(volume.generation + volume.localGeneration)],
        ...(content ? [['content', `${content.name}  ${content.state}`]] : []),
        ...(error ? [['problem', errorText(error, style)]] : []),
      ],
      style,
    ),
    ...(content && !reached(content.state, 'verified') ? blobLines(content.blobs, style) : []),
  ].join('\n')
}

export function printVolumes(volumes: readonly VolumeStatus[], style: Style): string {
  if (volumes.length === 0)
    return `No volumes here. The first comes with: cairn volume create NAME --from blank --size 10GiB${style.where}`
  const rows = volumes
    .toSorted((a, b) => (a.displayName < b.displayName ? -1 : 1))
    .map((volume): Cell[] => [
      signOf(volume),
      volume.displayName,
      volume.kind === 'container' ? 'container' : volume.format,
      volume.state,
      printSize(volume.usedSize).padStart(8),
      noteOf(volume, style),
    ])
  return columns(rows, style, '').join('\n')
}

export function printVolumeRemoved({ displayName, readOnly, usedSize }: VolumeStatus): string {
  return readOnly
    ? `${displayName} is taken away; its content stays as long as something keeps it.`
    : `${displayName} is taken away; ${printSize(usedSize)} freed.`
}

function signOf({ state, error, scope }: VolumeStatus): Cell {
  if (error) return { text: '✗', tone: 'failed' }
  if (scope === 'unknown') return { text: '-', tone: 'attention' }
  return state === 'created' ? { text: '●', tone: 'done' } : { text: '◐', tone: 'attention' }
}

function noteOf({ scope, error, collectedAt, path }: VolumeStatus, style: Style): string {
  if (error) return errorText(error, style)
  if (scope === 'unknown')
    return `nobody claims it${collectedAt ? `; goes ${relativeTime(new Date(collectedAt), style.now)}` : ''}`
  return path ?? ''
}
