// Parses one YAML document with all that YAML 1.2 has. Stops early at what only wastes time and memory: nesting beyond the
// limit, and more tokens than any resource needs. Of a broken document only the first error is told; the rest follows from it.
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, type YAMLParseError } from 'yaml'
import type { Problem, SourceRange } from '../../lib/problem.ts'
import type { Text } from './decoder.ts'
import { tooDeep } from './too-deep.ts'

export type YamlDocument = Document.Parsed<ParsedNode>

export type Parsed =
  | { readonly is: 'document'; readonly document: YamlDocument }
  | { readonly is: 'empty' }
  | { readonly is: 'broken'; readonly problem: Problem }

interface Part {
  readonly start: number
  readonly end: number
}

/** Offsets in the document are from the start of the part. */
export function parseYaml(text: Text, part: Part): Parsed {
  const unprintable = unprintableIn(text, part)
  if (unprintable) return { is: 'broken', problem: unprintable }
  const tokens = tokensOf(text, part)
  if ('code' in tokens) return { is: 'broken', problem: tokens }
  const [document] = new Composer(options).compose(tokens.tokens)
  if (!document) return { is: 'empty' }
  const error = firstOf(document.errors)
  if (error) return { is: 'broken', problem: syntaxProblem(text, part, error, tokens) }
  const { version } = document.directives.yaml
  if (version !== '1.2') return { is: 'broken', problem: otherVersion(version, text.placeOf(part.start)) }
  return isEmpty(document.contents) ? { is: 'empty' } : { is: 'document', document }
}

// Keys are compared and tags are judged in yaml-data.ts: the library would be slow at the one and guess at the other.
const options = {
  version: '1.2',
  schema: 'core',
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const

/** A key, a value, a space, a sign: some ten for a line. */
const mostTokens = 100_000

interface Tokens {
  readonly tokens: CST.Token[]
  /** Where each text begins that a quote opens, by where it ends. */
  readonly quoted: ReadonlyMap<number, number>
}

function tokensOf({ text, limits, placeOf }: Text, { start, end }: Part): Tokens | Problem {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  const quoted = new Map<number, number>()
  // Beside the collections, the stack may hold the document, a list of resources and the scalar that is being read.
  const mostOpen = limits.depth + 3
  let count = 0
  for (const lexeme of new Lexer().lex(text.slice(start, end))) {
    if (lexeme.startsWith('"') || lexeme.startsWith("'")) quoted.set(parser.offset + lexeme.length, parser.offset)
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > mostOpen) return tooDeep({ limit: limits.depth, source: placeOf(start + parser.offset) })
    if (++count > mostTokens) return tooManyTokens(placeOf(start))
  }
  for (const token of parser.end()) tokens.push(token)
  return { tokens, quoted }
}

const firstOf = (errors: readonly YAMLParseError[]): YAMLParseError | undefined =>
  errors.toSorted((a, b) => a.pos[0] - b.pos[0])[0]

function syntaxProblem({ text, placeOf }: Text, { start }: Part, error: YAMLParseError, { quoted }: Tokens): Problem {
  const found = start + error.pos[0]
  const tab = indentingTab(text, found, error)
  if (tab !== undefined) return tabProblem(placeOf(tab))
  const isUnclosed = /closing .quote/.test(error.message)
  const opening = start + (quoted.get(error.pos[0]) ?? error.pos[0])
  // The library repeats what it found, and that may be something which nobody should see.
  const words = isUnclosed ? 'the quote that opens here is never closed' : error.message.replace(/: ".*$/s, '')
  const hint = hints[error.code]
  return {
    code: error.code === 'TAG_RESOLVE_FAILED' ? 'yaml.tag' : 'yaml.syntax',
    path: '',
    reason: `not YAML: ${words.charAt(0).toLowerCase()}${words.slice(1)}`,
    ...(hint && { hint }),
    ...at(placeOf(isUnclosed ? opening : found)),
  }
}

const hints: Partial<Record<YAMLParseError['code'], string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'Put a value that holds ": " in quotes, or a mapping on lines of its own.',
  BAD_SCALAR_START: 'Put a value that begins so in quotes.',
}

/** The tab before the error on its line, when there is nothing but space before. The library calls not all of them so. */
function indentingTab(text: string, found: number, error: YAMLParseError): number | undefined {
  if (error.code === 'TAB_AS_INDENT') return found
  const lineStart = text.lastIndexOf('\n', found - 1) + 1
  const blank = /[ \t]*/y
  blank.lastIndex = lineStart
  const tab = blank.exec(text)![0].indexOf('\t')
  return tab === -1 || lineStart + tab > found ? undefined : lineStart + tab
}

/** Control characters, and a return that some take for the end of a line and others do not. */
function unprintableIn({ text, placeOf }: Text, { start, end }: Part): Problem | undefined {
  const found = /[\0-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)/.exec(text.slice(start, end))
  if (!found) return undefined
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return {
    code: 'yaml.character',
    path: '',
    reason: `the character U+${code} has no place in YAML`,
    hint: 'Write it as an escape in double quotes, or take it out.',
    ...at(placeOf(start + found.index)),
  }
}

const isEmpty = (contents: ParsedNode | null): boolean =>
  !contents || (contents.range[0] === contents.range[1] && contents.tag === undefined && contents.anchor === undefined)

const tooManyTokens = (source: SourceRange | undefined): Problem => ({
  code: 'limit.document',
  path: '',
  reason: 'too large for one resource',
  ...at(source),
})

const tabProblem = (source: SourceRange | undefined): Problem => ({
  code: 'yaml.tab',
  path: '',
  reason: 'a tab stands where the line is indented',
  hint: 'Indent with spaces.',
  ...at(source),
})

const otherVersion = (version: string, source: SourceRange | undefined): Problem => ({
  code: 'yaml.version',
  path: '',
  reason: `the document says that it is YAML ${version}; only YAML 1.2 is read`,
  hint: 'Take the line %YAML out. In YAML 1.2 yes, no, on and off are texts.',
  ...at(source),
})

const at = (source: SourceRange | undefined): Pick<Problem, 'source'> => (source ? { source } : {})
