// The unit files of one root, as its systemd would find them in /etc/systemd/system. Links count as links where they mean
// something by themselves (aliases, masks, .wants); elsewhere for what they lead to.
import { isAbsolute, join } from 'node:path'
import { isErrno } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import type { Layout } from '../../layout.ts'
import type { UnitFile, UnitTree } from '../../units/action.ts'

export const seenUnitPath = (path: string) => `/etc/systemd/system/${path}`

export function readUnitFiles(files: Files, layout: Layout): UnitTree {
  const tree = new Map<string, UnitFile>()
  const directory = join(layout.etc, 'systemd/system')
  for (const name of namesIn(files, directory)) {
    if (!/\.(d|wants|requires|upholds)$/.test(name)) add(tree, name, readUnitFile(files, layout, join(directory, name)))
    else
      for (const inner of namesIn(files, join(directory, name))) {
        const path = join(name, inner)
        const isWant = !name.endsWith('.d')
        add(tree, path, isWant ? { link: `../${inner}` } : readUnitFile(files, layout, join(directory, path)))
      }
  }
  return tree
}

function add(tree: Map<string, UnitFile>, path: string, file: UnitFile | null) {
  if (file) tree.set(path, file)
}

/** Null for what systemd passes over: a broken link, a directory. */
function readUnitFile(files: Files, layout: Layout, path: string): UnitFile | null {
  const text = files.lstat(path)?.isSymbolicLink() ? files.readlink(path) : null
  if (text !== null && (text === '/dev/null' || !text.replace(seenUnitPath(''), '').includes('/')))
    return { link: text }
  // Relative links lead on below the root by themselves; an absolute one means a path of the machine.
  const found = text !== null && isAbsolute(text) ? join(layout.prefix, text) : path
  return ifThere(() => ({ text: files.readFile(found).toString('utf8') }), null)
}

const namesIn = (files: Files, directory: string) => ifThere(() => files.readdir(directory).sort(), [])

function ifThere<T, O>(read: () => T, otherwise: O): T | O {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP')) return otherwise
    throw error
  }
}
