// What signals mean while a command runs. A lost terminal (SIGHUP) does not stop a change to the machine. Ctrl-C and SIGTERM
// end the process by that signal, after the live lines are gone and, for such a change, with a word on how it goes on.
import type { Screen } from '../lib/terminal.ts'
import type { Nature } from './command.ts'

const interruptions = ['SIGINT', 'SIGTERM'] as const

/** Returns the function that ends the guard. */
export function guardSignals(nature: Nature, { screen, before }: { screen: Screen; before: () => void }): () => void {
  if (nature === 'service') return () => {}
  const onInterruption = (signal: NodeJS.Signals) => {
    before()
    if (nature === 'machine') screen.write(`Interrupted. The next cairn node command finishes it or takes it back.\n`)
    release()
    process.kill(process.pid, signal)
  }
  const release = () => {
    for (const signal of interruptions) process.off(signal, onInterruption)
    process.off('SIGHUP', ignore)
  }
  for (const signal of interruptions) process.on(signal, onInterruption)
  if (nature === 'machine') process.on('SIGHUP', ignore)
  return release
}

function ignore() {}
