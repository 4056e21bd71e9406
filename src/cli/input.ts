// Reads the file that -f names; `-` is standard input.
import { readFile } from 'node:fs/promises'
import { isErrno, messageOf, ProblemsError } from '../lib/errors.ts'
import type { Problem } from '../lib/problem.ts'
import type { Terminal } from '../lib/terminal.ts'

export interface Input {
  /** As given; `<stdin>` for standard input. */
  readonly file: string
  readonly text: string
}

export async function readInput(file: string, terminal: Terminal): Promise<Input> {
  const bytes = file === '-' ? await terminal.readInput() : await readFile(file).catch(error => refuse(file, error))
  try {
    return { file: file === '-' ? '<stdin>' : file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    throw new ProblemsError([
      { code: 'input.not-utf8', path: '', reason: `${file} is not UTF-8 text`, hint: 'Save it as UTF-8.' },
    ])
  }
}

function refuse(file: string, error: unknown): never {
  throw new ProblemsError([
    { code: 'input.unreadable', path: '', reason: `cannot read ${file}: ${inWords(error)}`, ...hintFor(error) },
  ])
}

function inWords(error: unknown): string {
  if (isErrno(error, 'ENOENT')) return 'no such file'
  if (isErrno(error, 'EISDIR')) return 'it is a directory'
  if (isErrno(error, 'EACCES')) return 'permission denied'
  return messageOf(error)
}

function hintFor(error: unknown): Pick<Problem, 'hint'> {
  return isErrno(error, 'ENOENT') ? { hint: 'A path is taken from the current directory; - reads standard input.' } : {}
}
