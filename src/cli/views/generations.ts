// The generations on this machine, newest first.
import { columns } from '../../lib/columns.ts'
import { relativeTime } from '../../lib/relative-time.ts'
import type { Style } from '../../lib/style.ts'
import type { generationsOf } from '../../overlay/node.ts'
import { counted, shortState } from './words.ts'

type Generations = Awaited<ReturnType<typeof generationsOf>>

export function printGenerations(generations: Generations, style: Style): string {
  if (generations.length === 0)
    return `No generations yet. The first comes with: cairn node apply -f FILE${style.where}`
  const digits = Math.max(2, ...generations.map(({ generation }) => String(generation).length))
  const rows = newestFirst(generations).map(
    ({ generation, version, createdAt, current, entries, etcState, outcome }) => [
      current ? ({ text: '>', tone: 'done' } as const) : ' ',
      String(generation).padStart(digits),
      version,
      relativeTime(new Date(createdAt), style.now),
      counted(entries, 'entry', 'entries'),
      { text: etcState ? shortState(etcState) : '', tone: 'dim' } as const,
      [...(current ? ['current'] : []), ...(outcome && outcome !== 'healthy' ? [outcome] : [])].join(', '),
    ],
  )
  return [...columns(rows, style, ''), ...wayBack(generations, style)].join('\n')
}

export const generationsToJson = (generations: Generations) => ({ generations: newestFirst(generations) })

const newestFirst = (generations: Generations) => generations.toSorted((a, b) => b.generation - a.generation)

function wayBack(generations: Generations, { where }: Style): string[] {
  return generations.length > 1 ? [`Go to one of them: cairn node rollback --to N${where}`] : []
}
