// One command line from start to exit code: parse, run, print the answer or the error. Never throws.
import { errorToJson, renderError } from '../lib/render.ts'
import { painter, type Style } from '../lib/style.ts'
import type { Screen, Terminal } from '../lib/terminal.ts'
import type { Answer, Catalogue, Command, Session } from './command.ts'
import { exitCodeOf } from './exit.ts'
import { parseCommandLine } from './parse.ts'
import { hiddenProgress, type ShownProgress, showProgress } from './progress.ts'
import { guardSignals } from './signals.ts'
import { helpAnswer } from './views/help.ts'

export async function runCairn(argv: readonly string[], terminal: Terminal, catalogue: Catalogue): Promise<number> {
  // Read from the words themselves, so that a command line that cannot be parsed is answered in the right form.
  const json = argv.includes('--json')
  const debug = argv.includes('--debug')
  try {
    const request = parseCommandLine(argv, catalogue)
    if (request.do === 'help') return show(helpAnswer(catalogue, request.about), { terminal, json })
    const { command, values, everywhere } = request
    const quiet = everywhere.quiet === true
    const progress = json || quiet ? hiddenProgress : showProgress(terminal.err)
    const given = await runGuarded(command, values, { argv, catalogue, terminal, progress, json }, progress)
    const silent = quiet && !json && given.exit === 0 && command.nature !== 'question'
    return silent ? 0 : show(given, { terminal, json })
  } catch (error) {
    if (json) terminal.out.write(jsonText(errorToJson(error)))
    else terminal.err.write(`${renderError(error, styleOf(terminal.err), { debug })}\n`)
    return exitCodeOf(error)
  }
}

async function runGuarded(
  command: Command,
  values: Readonly<Record<string, unknown>>,
  session: Session,
  progress: ShownProgress,
): Promise<Answer> {
  const release = guardSignals(command.nature, { screen: session.terminal.err, before: () => progress.close() })
  try {
    return await command.run(values, session)
  } finally {
    progress.close()
    release()
  }
}

function show(given: Answer, { terminal, json }: { terminal: Terminal; json: boolean }): number {
  if (json) terminal.out.write(jsonText(given.json))
  else {
    const text = given.text(styleOf(terminal.out))
    if (text !== '') terminal.out.write(`${text}\n`)
  }
  return given.exit
}

function styleOf(screen: Screen): Style {
  return { width: screen.width(), now: new Date(), where: '', paint: painter(screen.colour) }
}

/** C1 controls are legal in JSON and still move some terminals. */
function jsonText(value: unknown): string {
  const escaped = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(value, null, 2).replace(/[\u007f-\u009f]/g, escaped)}\n`
}
