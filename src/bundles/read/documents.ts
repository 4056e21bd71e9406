// Reads all sources of a bundle: every resource that can be read, and every Problem of what cannot, in the order given.
import { lineIndex } from '../../lib/line-index.ts'
import { joinPaths } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import { printSize } from '../../lib/size.ts'
import type { Document, Documents, Limits, Source } from '../model/source.ts'
import type { Found, Text } from './decoder.ts'
import { decoderOf } from './encoding.ts'
import { tooManyFiles, tooMuch } from './source-problems.ts'
import { textOf } from './text.ts'

export function readDocuments(sources: readonly Source[], limits: Limits): Documents {
  const documents: Document[] = []
  const problems: Problem[] = []
  let index = 0
  for (const [found, file] of foundInAll(sources, limits)) {
    const isCounted = found.is !== 'unreadable'
    if (isCounted && index === limits.resources) {
      problems.push(tooMany(limits.resources))
      break
    }
    const root = isCounted ? `resources[${index}]` : ''
    for (const problem of found.problems) problems.push({ ...problem, path: joinPaths(root, problem.path) })
    if (found.is === 'resource') documents.push(documentOf(found, index, file))
    if (isCounted) index++
  }
  return { documents, problems, warnings: [] }
}

function* foundInAll(sources: readonly Source[], limits: Limits): Generator<[found: Found, file: string]> {
  const aliases = { left: limits.aliases }
  const unreadable = (problem: Problem): Found => ({ is: 'unreadable', problems: [problem] })
  let bytesLeft = limits.requestBytes
  if (sources.length > limits.files) yield [unreadable(tooManyFiles(limits.files)), '']
  for (const source of sources.slice(0, limits.files)) {
    const bytes = Buffer.byteLength(source.content)
    bytesLeft -= bytes
    if (bytesLeft < 0) return yield [unreadable(tooMuch(limits.requestBytes)), source.name]
    if (bytes > limits.fileBytes) yield [unreadable(tooLarge(source, limits.fileBytes)), source.name]
    else for (const found of foundIn(source, limits, aliases)) yield [found, source.name]
  }
}

function* foundIn(source: Source, limits: Limits, aliases: Text['aliases']): Iterable<Found> {
  const text = textOf(source)
  if (typeof text !== 'string') return yield { is: 'unreadable', problems: [text] }
  if (!/\S/.test(text)) return
  const lineOf = lineIndex(text)
  const placeOf: Text['placeOf'] = source.evaluated
    ? () => undefined
    : offset => ({ file: source.name, ...lineOf(offset) })
  yield* decoderOf(source, text).decode({ file: source.name, text, limits, aliases, placeOf })
}

function documentOf(
  { value, problems, locate }: Found & { readonly is: 'resource' },
  index: number,
  file: string,
): Document {
  const document = { value, index, file, locate }
  return problems.length === 0 ? document : { ...document, reported: problems.map(({ path }) => path) }
}

const tooLarge = ({ name, evaluated }: Source, limit: number): Problem => ({
  code: 'limit.file-bytes',
  path: '',
  reason: `"${name}" is larger than ${printSize(limit)}`,
  ...(!evaluated && { source: { file: name, line: 1, column: 1 } }),
})

const tooMany = (limit: number): Problem => ({
  code: 'limit.resources',
  path: '',
  reason: `more than ${limit} resources`,
  hint: 'Make several bundles of it, each with a stack of its own.',
})
