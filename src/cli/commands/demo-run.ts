// The demo: lays out the machines of examples/homelab, brings them up, and stays until it is told to end. Whichever way it
// ends, nothing runs on and nothing is left on disk.
import { join, resolve } from 'node:path'
import { painter, type Style } from '../../lib/style.ts'
import type { Screen } from '../../lib/terminal.ts'
import type { Answer, Session } from '../command.ts'
import { bringUp } from '../demo/bring-up.ts'
import { takeGround } from '../demo/ground.ts'
import { fromHere, readHomelab } from '../demo/homelab.ts'
import { liveLines } from '../demo/live.ts'
import { refuseBusyPorts } from '../demo/ports.ts'
import { reportToJson } from '../demo/report.ts'
import { endLines, headLines, isHealthy, machineLines, tryLines } from '../demo/screen.ts'
import { untilTold } from '../until-told.ts'

export interface DemoOptions {
  /** Where the machines are laid out; default .cairn/demo. */
  readonly directory?: string
  /** End when all machines are healthy, instead of staying. */
  readonly once?: boolean
}

export async function runDemo(session: Session, { directory: wanted, once }: DemoOptions = {}): Promise<Answer> {
  const startedAt = performance.now()
  const screen = screenOf(session)
  const style: Style = { width: screen.width(), now: new Date(), where: '', paint: painter(screen.colour) }
  const say = (lines: readonly string[]) => screen.write(lines.map(line => `${line}\n`).join(''))
  const live = liveLines(screen)

  const { home, machines } = readHomelab()
  const told = untilTold()
  const ground = await takeGround(resolve(wanted ?? '.cairn/demo'))
  const { directory } = ground
  try {
    await refuseBusyPorts(machines)
    say(headLines(machines, directory, style))
    const lab = await bringUp(machines, { directory, onChange: views => live.show(machineLines(views, style)) })
    try {
      const seconds = (performance.now() - startedAt) / 1000
      const report = reportToJson(lab.views, { directory, seconds })
      const end = endLines(lab.views, seconds, style)
      live.end([...machineLines(lab.views, style), ''])
      if (!lab.views.every(isHealthy)) return { exit: 6, json: report, text: () => end.join('\n') }

      say([...end, ''])
      if (once)
        return { exit: 0, json: report, text: () => `  The units are ended, ${fromHere(directory)} is removed.` }
      say(tryLines(machines[0]!, { cairn: commandIn(home), directory }, style))
      if (session.json) session.terminal.out.write(`${JSON.stringify(report, null, 2)}\n`)
      const signal = await told.stop
      say(['', '  Ending the units …'])
      return { exit: 0, json: { ended: signal }, text: () => `  ${fromHere(directory)} is removed.` }
    } finally {
      await lab.end()
    }
  } finally {
    ground.remove()
    told.release()
  }
}

/** Nothing is shown on the way when programs read it, or when nobody wants to. */
function screenOf({ terminal, json, argv }: Session): Screen {
  const silent = json || argv.includes('-q') || argv.includes('--quiet')
  return silent ? { ...terminal.out, live: false, write() {} } : terminal.out
}

/** As a person would call it from here. */
const commandIn = (home: string) => (home.includes('/node_modules/') ? 'cairn' : fromHere(join(home, 'bin/cairn')))
