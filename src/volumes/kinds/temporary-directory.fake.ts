import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory that is gone after the test that asked for it. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'cairn-volumes-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
