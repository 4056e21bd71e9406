// Gathers the roots of a machine: generations, etc/static, open journals, temp roots of live processes, and what running
// processes mention. A fingerprint of 52 characters is found wherever it stands, whatever path leads to it there.
import { join } from 'node:path'
import { isErrno } from '../../../lib/errors.ts'
import { currentNumber, generationNumbers } from '../../generations.ts'
import type { StateName } from '../../names.ts'
import { liveTempRoots } from '../temp-roots.ts'
import type { StoreContext } from './lock.ts'
import type { ReadProcesses } from './processes.ts'
import type { Root, RootCause } from './root.ts'

/** The known states that a text names. */
export type FindStates = (text: string) => StateName[]

/** `learn` is asked when a text names a state that is not known: it may have come since. */
export function findStatesAmong(known: Iterable<StateName>, learn: () => Iterable<StateName> = () => []): FindStates {
  const byFingerprint = new Map<string, StateName>()
  const add = (states: Iterable<StateName>) => {
    for (const state of states) byFingerprint.set(state.slice(-fingerprintLength), state)
  }
  add(known)
  return text => {
    const found = new Set<StateName>()
    for (const [, fingerprint] of text.matchAll(fingerprints)) {
      if (!byFingerprint.has(fingerprint!)) add(learn())
      const state = byFingerprint.get(fingerprint!)
      if (state) found.add(state)
    }
    return [...found]
  }
}

const fingerprintLength = 52
const fingerprints = /-([a-z2-7]{52})(?![a-z2-7])/g

/** Those that Cairn itself keeps on disk: few and quick to read, so that each batch of a collection reads them again. */
export function storeRoots(context: StoreContext, findStates: FindStates): Root[] {
  const { files, layout } = context
  const roots: Root[] = []
  const add = (cause: RootCause, text: string | null) => {
    for (const state of findStates(text ?? '')) roots.push({ state, cause })
  }
  const current = currentNumber(files, layout)
  for (const generation of generationNumbers(files, layout)) {
    const directory = join(layout.generations, String(generation))
    const text =
      ifThere(() => files.readlink(join(directory, 'etc'))) ?? // the manifest is long, and names no more than this leads to
      ifThere(() => files.readFile(join(directory, 'manifest.json')).toString('latin1'))
    add({ is: 'generation', generation, current: generation === current }, text)
  }
  add(
    { is: 'static' },
    ifThere(() => files.readlink(layout.static)),
  )
  for (const name of ifThere(() => files.readdir(layout.journal)) ?? []) {
    const file = join(layout.journal, name)
    add(
      { is: 'journal', file },
      ifThere(() => files.readFile(file).toString('latin1')),
    )
  }
  for (const { pid, file, states } of liveTempRoots(context)) add({ is: 'temp-root', pid, file }, states.join('\n'))
  return roots
}

export function processRoots(processes: ReadProcesses, findStates: FindStates): Root[] {
  const roots: Root[] = []
  for (const { pid, name, file, text } of processes())
    for (const state of findStates(text)) roots.push({ state, cause: { is: 'process', pid, name, file } })
  return roots
}

/** EINVAL: not a link where one was expected. */
function ifThere<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) return null
    throw error
  }
}
