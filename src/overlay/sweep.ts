// What a killed switch left in the parts of the store that only the holder of the apply lock writes to: temporary files, and
// the mark of a phase whose journal was closed already.
import { dirname, join } from 'node:path'
import { litterPrefix, removeTree } from '../lib/durable.ts'
import type { Files } from '../lib/files.ts'
import { generationNumbers } from './generations.ts'
import { closeJournal } from './journal.ts'
import type { Layout } from './layout.ts'

export function sweepStore(files: Files, layout: Layout) {
  const generations = generationNumbers(files, layout).map(number => join(layout.generations, String(number)))
  for (const directory of [
    dirname(layout.current),
    layout.journal,
    layout.generations,
    dirname(layout.static),
    ...generations,
  ])
    for (const name of files.lstat(directory) ? files.readdir(directory) : [])
      if (name.startsWith(litterPrefix)) removeTree(files, join(directory, name))
  for (const id of marksWithoutJournal(files, layout)) closeJournal(files, layout, id)
}

function marksWithoutJournal(files: Files, layout: Layout): string[] {
  const names = files.lstat(layout.journal) ? files.readdir(layout.journal) : []
  const marks = names.filter(name => name.endsWith('.phase')).map(name => name.slice(0, -'.phase'.length))
  return marks.filter(id => !names.includes(`${id}.json`))
}
