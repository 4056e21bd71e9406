// Calls of the real tools that judge volumes, and a place to make them in.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { run } from '../../src/lib/run.ts'
import { temporaryDirectory } from '../../src/volumes/kinds/temporary-directory.fake.ts'

/** Its standard output; throws with all that it said when it fails. */
export async function output(program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, { timeoutMs: 120_000 })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`)
  return stdout
}

/** A directory, and one for volumes in it. */
export function volumesPlace(): { readonly path: string; readonly volumes: string } {
  const path = temporaryDirectory()
  const volumes = join(path, 'volumes')
  mkdirSync(volumes)
  return { path, volumes }
}

export interface Mounting {
  readonly type: string
  /** An image, or `none` for a file system in memory. */
  readonly source: string
  readonly options: string
  /** Nothing is there. */
  readonly at: string
}

/** Until the test is over. */
export async function mountForTest({ type, source, options, at }: Mounting): Promise<void> {
  mkdirSync(at)
  await output('mount', '-t', type, '-o', options, source, at)
  onTestFinished(async () => void (await output('umount', at)))
}
