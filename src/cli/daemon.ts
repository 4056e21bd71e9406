// The content processes for as long as nobody says stop. What they have to say comes out as lines, for a terminal and for
// the journal alike.
import type { ProcessName } from '../content/messages.ts'
import { type ContentOptions, launchContentProcess, openContent } from '../content/node.ts'
import { findProgram, run } from '../lib/run.ts'
import type { Answer, Session } from './command.ts'
import { untilTold } from './until-told.ts'

export async function runDaemon(session: Session, options: ContentOptions & { units: boolean }): Promise<Answer> {
  const told = untilTold()
  const say = sayOn(session)
  try {
    const { service } = await openContent({ ...options, log: say })
    try {
      if (!service.owned) say('Another supervisor runs here already; this one takes over when it ends.')
      else say(options.units ? 'The content processes may join.' : 'The content processes are running.')
      await tellSystemd()
      const signal = await told.stop
      return { exit: 0, json: { ended: signal }, text: () => 'The content processes have ended.' }
    } finally {
      await service.close()
    }
  } finally {
    told.release()
  }
}

/** Ends with the process, as it ended. */
export async function runOneProcess(session: Session, name: ProcessName, options: ContentOptions): Promise<Answer> {
  const told = untilTold()
  const stopped = new AbortController()
  told.stop.then(() => stopped.abort())
  try {
    const code = await launchContentProcess(name, { ...options, log: sayOn(session), signal: stopped.signal })
    return { exit: code === 0 ? 0 : 1, json: { ended: name, code }, text: () => '' }
  } finally {
    told.release()
  }
}

const sayOn =
  ({ terminal, json }: Session) =>
  (line: string) => {
    if (!json) terminal.err.write(`${line}\n`)
  }

/** Its unit counts as started from now on, and those of the processes can follow. */
async function tellSystemd() {
  const program = process.env.NOTIFY_SOCKET === undefined ? null : findProgram('systemd-notify')
  if (program) await run(program, ['--ready'])
}
