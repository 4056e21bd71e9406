// How evaluation ends early: thrown inside this room, a Problem outside it. Nothing in the language can catch it.
import type { Problem, SourceRange } from '../problem.ts'

export type FailureCode = `jsonnet.${'syntax' | 'failed' | 'recursion' | 'too-long' | 'too-large' | 'import'}`

/** One text, with the name that every message gives it. */
export interface SourceFile {
  readonly name: string
  readonly text: string
}

/** A place in a file; `what` names the call or field that is evaluated there, and such places make a trace. */
export interface Site {
  readonly file: SourceFile
  readonly offset: number
  readonly what?: string
}

export class JsonnetFailure extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.reason)
    this.problem = problem
  }
}

export function failAt(code: FailureCode, reason: string, site: Site): never {
  throw new JsonnetFailure({ code, path: '', reason, source: placeOf(site) })
}

export function placeOf({ file, offset }: Site): SourceRange {
  const before = file.text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { file: file.name, line: before.split('\n').length, column: offset - lineStart + 1 }
}

export function printSite(site: Site): string {
  const { file, line, column } = placeOf(site)
  return `${file}:${line}:${column}${site.what ? ` (${site.what})` : ''}`
}
