// Programs that Cairn is compared with: where they are, and which version.
import { spawnSync } from 'node:child_process'
import { findProgram } from '../../src/lib/run.ts'

export interface Tool {
  readonly name: string
  /** Null when it is not installed. */
  readonly path: string | null
  readonly version: string | null
}

export function findTool(name: string): Tool {
  const path = findProgram(name)
  return { name, path, version: path && versionOf(path) }
}

function versionOf(path: string): string | null {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return /\d+(?:\.\d+)+/.exec(stdout ?? '')?.[0] ?? null
}
