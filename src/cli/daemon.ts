// The content processes for as long as nobody says stop. What they have to say comes out as lines, for a terminal and for
// the journal alike.
import { type ContentOptions, openContent } from '../content/node.ts'
import type { Answer, Session } from './command.ts'
import { untilTold } from './until-told.ts'

export async function runDaemon({ terminal, json }: Session, options: ContentOptions): Promise<Answer> {
  const told = untilTold()
  const say = (line: string) => {
    if (!json) terminal.err.write(`${line}\n`)
  }
  try {
    const { service } = await openContent({ ...options, log: say })
    try {
      if (!service.owned) say('Another supervisor runs here already; this one takes over when it ends.')
      else say('The content processes are running.')
      const signal = await told.stop
      return { exit: 0, json: { ended: signal }, text: () => 'The content processes have ended.' }
    } finally {
      await service.close()
    }
  } finally {
    told.release()
  }
}
