// The parser's place among the tokens, and how deep it is in them.
import { failAt, type SourceFile } from './failure.ts'
import type { Token } from './lexer.ts'

const deepest = 1_000

export class Cursor {
  readonly #file: SourceFile
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(file: SourceFile, tokens: readonly Token[]) {
    this.#file = file
    this.#tokens = tokens
  }

  get token(): Token {
    return this.#tokens[this.#next]!
  }

  get at(): number {
    return this.token.at
  }

  take(): Token {
    const { token } = this
    this.#next++
    return token
  }

  back() {
    this.#next--
  }

  /** A word or sign; never a string that looks like one. */
  is(text: string, ahead = 0): boolean {
    const token = this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!
    return 'text' in token && token.text === text
  }

  takes(text: string): boolean {
    const found = this.is(text)
    if (found) this.#next++
    return found
  }

  expect(text: string, where: string): number {
    const { at } = this
    if (!this.takes(text)) this.fail(`expected ${text} ${where}, found ${this.found()}`)
    return at
  }

  identifier(where: string): string {
    const { token } = this
    if (token.kind !== 'identifier') return this.fail(`expected a name ${where}, found ${this.found()}`)
    this.#next++
    return token.text
  }

  found(): string {
    const { token } = this
    if (token.kind === 'end') return 'the end of the file'
    if (token.kind === 'string') return 'a string'
    return token.kind === 'number' ? `the number ${token.value}` : `"${token.text}"`
  }

  fail(reason: string, at = this.at): never {
    return failAt('jsonnet.syntax', reason, { file: this.#file, offset: at })
  }

  deeper<T>(parse: () => T): T {
    if (++this.#depth > deepest) this.fail(`nested more than ${deepest} levels deep`)
    const parsed = parse()
    this.#depth--
    return parsed
  }
}
