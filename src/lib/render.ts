// The one renderer of errors: gathered Problems as an aligned list with a closing count, everything else as what happened,
// its cause and the next step. Credentials and control characters are taken out here, whatever the text came through.
import { columns, wrap } from './columns.ts'
import { CairnError, isErrno, messageOf, ProblemsError, RefusedError } from './errors.ts'
import type { Problem, Warning } from './problem.ts'
import { redact } from './redact.ts'
import type { Style } from './style.ts'

export interface ErrorJson {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly hint?: string
    readonly problems: readonly Problem[]
  }
}

/** `debug` adds the stack of the error and of each cause. */
export function renderError(thrown: unknown, style: Style, { debug = false } = {}): string {
  const error = asCairnError(thrown)
  const problems = problemsOf(error)
  const lines = problems.length > 0 ? gatheredLines(error, problems, style) : singleLines(error, style)
  return [...lines, ...(debug ? stackLines(thrown, style) : [])].join('\n')
}

export function errorToJson(thrown: unknown): ErrorJson {
  const error = asCairnError(thrown)
  const { code, hint } = error
  const message = redact(error.message)
  return {
    error: { code, message, ...(hint ? { hint: redact(hint) } : {}), problems: problemsOf(error) },
  }
}

/** Warnings stop nothing, so they stand after what was asked for. */
export function renderWarnings(warnings: readonly Warning[], style: Style): string[] {
  return inOrder(warnings).flatMap(warning =>
    columns(
      [
        [{ text: 'warning', tone: 'attention' }, [placeOf(warning), warning.reason].filter(Boolean).join('  ')],
        ...(warning.hint ? [['', { text: warning.hint, tone: 'dim' } as const]] : []),
      ],
      style,
      '',
    ),
  )
}

function gatheredLines(error: CairnError, problems: readonly Problem[], style: Style): string[] {
  const placed = problems.filter(problem => problem.source)
  const others = problems.filter(problem => !problem.source)
  // A refusal whose problems carry its own code says nothing that they do not say better.
  const title = error instanceof RefusedError && problems.every(({ code }) => code !== error.code)
  return [
    ...(title ? [style.paint('failed', redact(error.message))] : []),
    ...placedLines(placed, style),
    ...others.flatMap(problem => unplacedLines(problem, style)),
    ...(error.hint ? wrap(redact(error.hint), style.width) : []),
    style.paint('failed', `${countOf(problems)}. Nothing was changed.`),
  ]
}

/** Three columns where all rows fit, else the third below the second. */
function placedLines(problems: readonly Problem[], style: Style): string[] {
  const rows = problems.map(problem => [placeOf(problem), sentenceOf(problem), problem.hint ?? problem.path] as const)
  const widest = [0, 1, 2].map(index => Math.max(0, ...rows.map(row => row[index]!.length)))
  const fits = widest.reduce((sum, width) => sum + width + 2, 0) <= Math.min(style.width, 140)
  return columns(
    rows.flatMap(([place, reason, next]) =>
      fits
        ? [[place, reason, { text: next, tone: 'dim' }]]
        : [[place, reason], ...(next ? [['', { text: next, tone: 'dim' } as const]] : [])],
    ),
    style,
    '',
  )
}

function unplacedLines(problem: Problem, style: Style): string[] {
  const next = problem.hint ?? problem.path
  const indented = next ? columns([[{ text: next, tone: 'dim' }]], style) : []
  return [...wrap(sentenceOf(problem), style.width), ...indented]
}

/** A reason that begins with its verb is about the field at the end of the path: `size must be …`. */
function sentenceOf({ reason, path }: Problem): string {
  if (!/^(?:is|must|needs|has|fits)\b/.test(reason)) return reason
  const field = /([\w-]+)(?:\[\d+\])*$/.exec(path)?.[1]
  return field ? `${field} ${reason}` : reason
}

function singleLines(error: CairnError, style: Style): string[] {
  const message = redact(error.message)
  const cause = error.cause === undefined ? '' : redact(messageOf(error.cause))
  return [
    `${style.paint('failed', message)} ${style.paint('dim', `(${error.code})`)}`,
    ...(cause && !message.includes(cause) ? columns([[`Cause: ${cause}`]], style) : []),
    ...(error.hint ? columns([[redact(error.hint)]], style) : []),
    ...(error instanceof RefusedError ? ['Nothing was changed.'] : []),
  ]
}

function countOf(problems: readonly Problem[]): string {
  const noun = problems.every(({ code }) => code.endsWith('.conflict')) ? 'conflict' : 'problem'
  const files = new Set(problems.flatMap(({ source }) => source?.file ?? [])).size
  return counted(problems.length, noun) + (files > 0 ? ` in ${counted(files, 'file')}` : '')
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

const placeOf = ({ source }: Problem): string => (source ? `${source.file}:${source.line}:${source.column}` : '')

function problemsOf(error: CairnError): readonly Problem[] {
  if (!(error instanceof ProblemsError || error instanceof RefusedError)) return []
  return inOrder(error.problems).map(problem => ({
    ...problem,
    reason: redact(problem.reason),
    ...(problem.hint ? { hint: redact(problem.hint) } : {}),
  }))
}

/** By file, line and column; those without a place keep their order, after the others. */
function inOrder<P extends Problem>(problems: readonly P[]): P[] {
  return problems.toSorted((a, b) => {
    if (!a.source || !b.source) return Number(!a.source) - Number(!b.source)
    if (a.source.file !== b.source.file) return a.source.file < b.source.file ? -1 : 1
    return a.source.line - b.source.line || a.source.column - b.source.column
  })
}

/** What the system refused has a name of its own; all that is left is a defect of ours. */
function asCairnError(thrown: unknown): CairnError {
  if (thrown instanceof CairnError) return thrown
  const message = messageOf(thrown)
  if (isErrno(thrown, 'EACCES', 'EPERM', 'EROFS'))
    return new CairnError('file.denied', message, {
      hint: 'Run it as root, or with --root DIR for a try below a directory of your own.',
    })
  if (isErrno(thrown, 'ENOSPC', 'EDQUOT'))
    return new CairnError('disk.full', message, {
      hint: 'Make room; cairn node gc frees what no generation needs.',
    })
  if (thrown instanceof Error && 'syscall' in thrown) return new CairnError('system.failed', message)
  return new CairnError('internal.defect', message, {
    hint: 'This is a defect in Cairn. Run it again with --debug and report what it prints.',
  })
}

function stackLines(thrown: unknown, style: Style): string[] {
  const lines: string[] = []
  for (let error = thrown; error instanceof Error; error = error.cause)
    lines.push(...redact(error.stack ?? error.message).split('\n'))
  return lines.map(line => style.paint('dim', line))
}
