// Commands that are to run once, later: the runner's timers. A command is not a unit's: its paths are this computer's.
import { messageOf } from '../../../lib/errors.ts'
import type { UnitName } from '../../names.ts'
import type { Systemd } from '../systemd.ts'
import type { Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { timerMs } from './patience.ts'
import { startProcess } from './process.ts'

export interface Later extends Pick<Systemd, 'runLater' | 'cancelLater'> {
  cancelAll(): void
}

export function laterCommands(context: { ledger: Ledger; logOf(unit: UnitName): Log; directory: string }): Later {
  const timers = new Map<string, NodeJS.Timeout>()
  const cancel = (unit: string) => {
    clearTimeout(timers.get(unit))
    timers.delete(unit)
  }
  return {
    runLater: async ({ unit, afterMs, command }) => {
      cancel(unit)
      const fire = () => {
        timers.delete(unit)
        const service = `${unit}.service` as UnitName
        runNow(context, service, command).catch(error => {
          context.logOf(service).write(Buffer.from(`${messageOf(error)}\n`))
        })
      }
      timers.set(unit, setTimeout(fire, timerMs(afterMs)))
    },
    cancelLater: async unit => cancel(unit),
    cancelAll: () => {
      for (const unit of [...timers.keys()]) cancel(unit)
    },
  }
}

async function runNow(
  { ledger, logOf, directory }: Parameters<typeof laterCommands>[0],
  unit: UnitName,
  [program = '', ...args]: readonly string[],
) {
  const invocation = ledger.open(unit)
  const { PATH = '', HOME = '/' } = process.env
  const { pid, ended } = startProcess({
    program,
    args,
    argv0: program,
    environment: { PATH, HOME, LANG: 'C.UTF-8', INVOCATION_ID: invocation.id },
    directory,
    output: bytes => logOf(unit).write(bytes),
  })
  if (pid !== null) ledger.began(invocation, pid)
  await ended
  ledger.close(invocation)
}
