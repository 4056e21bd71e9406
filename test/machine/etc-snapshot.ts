// A tree as a value, for "byte for byte as before": one line per entry with everything that must be equal.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../src/lib/json.ts'

/** Path below the tree -> type, mode, owner, and for files mtime and bytes, for links the text. Two are compared with toEqual. */
export type EtcSnapshot = Readonly<Record<string, string>>

export function snapshotTree(tree: string): EtcSnapshot {
  const entries = readdirSync(tree, { recursive: true }) as string[]
  return Object.fromEntries(entries.sort().map(path => [path, describe(join(tree, path))]))
}

function describe(path: string): string {
  const stats = lstatSync(path)
  const common = `${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid}`
  if (stats.isSymbolicLink()) return `link ${common} -> ${readlinkSync(path)}`
  if (stats.isDirectory()) return `directory ${common}`
  if (stats.isFile()) return `file ${common} ${stats.mtimeMs} ${stats.size} ${sha256Hex(readFileSync(path))}`
  return `special ${(stats.mode & 0o170000).toString(8)} ${common} ${stats.rdev}`
}
