// A machine for tests: a directory with a runner and its socket, and the unit files that a test writes into it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { UnitName } from '../../names.ts'
import type { UnitStatus } from '../systemd.ts'
import { openRunner, type Runner } from './runner.ts'

export interface TestMachine {
  readonly root: string
  readonly runner: Runner
  unit(name: string, text: string): void
  /** The result of the job: '' when it is done. */
  run(verb: 'start' | 'stop' | 'restart' | 'reload', name: string): Promise<string>
  show(name: string): Promise<UnitStatus>
  lines(name: string): Promise<string[]>
  remove(): Promise<void>
}

export async function openTestMachine(root = makeTestRoot()): Promise<TestMachine> {
  const runner = await openRunner({ root })
  return {
    root,
    runner,
    unit: (name, text) => writeUnit(root, name, text),
    run: async (verb, name) => {
      const [result] = await runner.run([{ do: verb, unit: name as UnitName, timeoutMs: 20_000 }])
      return result!.detail
    },
    show: async name => (await runner.show([name as UnitName])).get(name as UnitName)!,
    lines: name => runner.lastLines(name as UnitName, 100),
    remove: async () => {
      await runner.end()
      removeTestRoot(root)
    },
  }
}

export const makeTestRoot = (): string => mkdtempSync(join(tmpdir(), 'cairn-runner-'))
export const removeTestRoot = (root: string) => rmSync(root, { recursive: true, force: true })

export function writeUnit(root: string, name: string, text: string) {
  const path = join(root, 'etc/systemd/system', name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
