// The terminal as a port: where output goes, what it can show, and whether somebody is there to answer.
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isErrno } from './errors.ts'

export interface Screen {
  write(text: string): void
  /** A terminal on which lines can be drawn again. */
  readonly live: boolean
  readonly colour: boolean
  /** Columns right now; Infinity where no terminal limits them. */
  width(): number
}

export interface Terminal {
  readonly out: Screen
  readonly err: Screen
  /** All of standard input. */
  readInput(): Promise<Uint8Array>
  /** Null when nobody can answer. */
  readonly ask: ((question: string) => Promise<string>) | null
  /** The same without showing what is typed. */
  readonly askHidden: ((question: string) => Promise<string>) | null
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  stderr.on('error', () => {})
  stdout.on('error', failUnlessNobodyReads)
  return {
    out: screenOf(stdout, env),
    err: screenOf(stderr, env),
    readInput: async () => {
      const chunks: Uint8Array[] = []
      for await (const chunk of stdin) chunks.push(chunk as Uint8Array)
      return Buffer.concat(chunks)
    },
    ask: stdin.isTTY && stderr.isTTY ? question => askOn({ input: stdin, output: stderr }, question) : null,
    askHidden: stdin.isTTY && stderr.isTTY ? question => askHiddenOn({ input: stdin, output: stderr }, question) : null,
  }
}

/** FORCE_COLOR stands over NO_COLOR, as in Node itself; without either a terminal decides. */
export function wantsColour(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  if (env.NO_COLOR) return false
  return isTerminal && env.TERM !== 'dumb'
}

function screenOf(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Screen {
  const isTerminal = stream.isTTY === true
  return {
    write: text => void stream.write(text),
    live: isTerminal && env.TERM !== 'dumb',
    colour: wantsColour(env, isTerminal),
    width: () => (isTerminal && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY),
  }
}

/** Whoever read our output may go away; a full disk behind it is a failure, but none that stops the work. */
function failUnlessNobodyReads(error: Error) {
  if (isErrno(error, 'EPIPE', 'EIO')) return
  process.stderr.write(`The output could not be written: ${error.message}\n`)
  process.once('exit', () => {
    process.exitCode = 1
  })
}

/** The end of input and Ctrl-C are an empty answer. */
async function askOn(streams: { input: NodeJS.ReadStream; output: NodeJS.WriteStream }, question: string) {
  const asking = createInterface(streams)
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  asking.once('close', () => end(''))
  try {
    return await Promise.race([asking.question(question), ended])
  } finally {
    asking.close()
  }
}

/** What is typed goes to an output that shows nothing; the line feed at the end is shown, so that the next line begins anew. */
async function askHiddenOn(streams: { input: NodeJS.ReadStream; output: NodeJS.WriteStream }, question: string) {
  const { input, output } = streams
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // First of all the terminal stops showing keys: whoever sees the question may type at once.
  const asking = createInterface({ input, output: nowhere, terminal: true })
  output.write(question)
  const { promise: answered, resolve } = Promise.withResolvers<string>()
  asking.once('close', () => resolve(''))
  try {
    return await Promise.race([asking.question(''), answered])
  } finally {
    asking.close()
    output.write('\n')
  }
}
