// Keeps pending/ free of what nobody wants. What the downloader did not make is told once and left alone.
import { basename, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { redact } from '../../lib/redact.ts'
import type { ProcessContext } from '../process/context.ts'
import { readRecord } from './found-pending.ts'
import { halfMadeIn, leftoversIn } from './pending-names.ts'

export interface Sweep {
  /** Removes what a crash left half-made. Before the first download only. */
  halfMade(): void
  /** Removes what is for none of the targets; call it when all that is wanted is known. */
  leftovers(targets: readonly string[]): void
}

export function createSweep({ files, layout, log }: Pick<ProcessContext, 'files' | 'layout' | 'log'>): Sweep {
  const told = new Set<string>()

  const inPending = (act: (names: string[]) => void) => {
    try {
      act(files.readdir(layout.pending))
    } catch (error) {
      log(`pending/ cannot be cleared: ${redact(messageOf(error))}`)
    }
  }
  const remove = (names: readonly string[]) => {
    for (const name of names) files.unlink(join(layout.pending, name))
  }
  return {
    halfMade: () => inPending(names => remove(halfMadeIn(names))),
    leftovers: targets =>
      inPending(names => {
        const wanted = new Set(targets.map(target => basename(target)))
        const isRecorded = (name: string) => readRecord(files, join(layout.pending, name)) !== null
        const found = leftoversIn(names, wanted, isRecorded)
        const news = found.unknown.filter(name => !told.has(name))
        for (const name of news) told.add(name)
        if (news.length > 0) log(`not made by the downloader, left alone: ${news.join(', ')}`)
        remove(found.remove)
      }),
  }
}
