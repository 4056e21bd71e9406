// One service as it runs: its state, as systemd would tell it, and the moves between states. A start, a stop and the end of
// the main process may come in any order; what a start has begun is brought down once, by whichever comes first.
import type { UnitName } from '../../names.ts'
import type { UnitStatus } from '../systemd.ts'
import type { CommandLine } from './command-line.ts'
import { runCommands } from './commands.ts'
import { isSuccess, startsAgain } from './exit.ts'
import { endAll, type Invocation } from './invocation.ts'
import type { Launcher } from './launch.ts'
import type { Ledger } from './ledger.ts'
import { timerMs } from './patience.ts'
import { type Ended, statusOf } from './process.ts'
import type { Service } from './service.ts'

export type ServiceState = Pick<UnitStatus, 'active' | 'sub' | 'mainPid' | 'mainStatus' | 'result' | 'restarts'>

/** Jobs answer '' when done, else what JobResult.detail says. */
export interface ServiceUnit {
  state(): ServiceState
  start(): Promise<string>
  stop(): Promise<string>
  reload(): Promise<string>
  resetFailed(): void
}

export interface ServiceHost {
  readonly launch: Launcher
  readonly ledger: Ledger
  /** By the last daemon-reload; by an earlier one when the unit is gone but still runs. */
  service(): Service
}

/** From a start to the end of all that it started. */
interface Run {
  readonly invocation: Invocation
  /** How the main process ended, or the commands of a oneshot. */
  readonly ended: PromiseWithResolvers<Ended>
  /** Set once it goes down. */
  down?: Promise<void>
  /** It came up well, so that its ExecStop= is due. */
  up: boolean
  stopAsked: boolean
  timedOut: boolean
}

const fresh: ServiceState = {
  active: 'inactive',
  sub: 'dead',
  mainPid: 0,
  mainStatus: 0,
  result: 'success',
  restarts: 0,
}

export function serviceUnit(unit: UnitName, { launch, ledger, service }: ServiceHost): ServiceUnit {
  let state = fresh
  let run: Run | null = null
  let starting: Promise<string> | null = null
  let stopping: Promise<string> | null = null
  let restarting: NodeJS.Timeout | undefined
  let startedAt: number[] = []

  const become = (change: Partial<ServiceState>) => {
    state = { ...state, ...change }
  }
  const open = ({ invocation }: Run, command: CommandLine) =>
    launch({ service: service(), command, invocation, mainPid: state.mainPid })

  /** Who asks while a start is under way waits for that one. */
  function start(restarts = 0): Promise<string> {
    starting ??= begin(restarts)
      .catch(() => {
        // It could not be written down, so nothing was started.
        become({ active: 'failed', sub: 'failed', result: 'resources' })
        return 'failed'
      })
      .finally(() => {
        starting = null
      })
    return starting
  }

  async function begin(restarts: number): Promise<string> {
    if (stopping) await stopping
    if (state.active === 'active' || state.active === 'reloading') return ''
    clearTimeout(restarting)
    if (isTooOften()) {
      become({ active: 'failed', sub: 'failed', result: 'start-limit-hit' })
      return 'failed'
    }
    const ended = Promise.withResolvers<Ended>()
    run = { invocation: ledger.open(unit), ended, up: false, stopAsked: false, timedOut: false }
    become({ ...fresh, active: 'activating', sub: 'start', restarts })
    return service().type === 'oneshot' ? runThrough(run) : runMain(run)
  }

  function isTooOften(): boolean {
    const { burst, intervalMs } = service().startLimit
    const now = performance.now()
    startedAt = [...startedAt.filter(at => now - at < intervalMs), now]
    return burst > 0 && startedAt.length > burst
  }

  /** A simple service counts as started the instant it is forked, whether or not there was a program to run. */
  async function runMain(begun: Run): Promise<string> {
    const { type, start } = service()
    const { pid, ended } = open(begun, start[0]!)
    const over = ended.then(how => afterMain(begun, how))
    if (pid === null && type === 'exec') {
      await over
      return 'failed'
    }
    begun.up = pid !== null
    become({ active: 'active', sub: 'running', mainPid: pid ?? 0 })
    return ''
  }

  async function runThrough(begun: Run): Promise<string> {
    const { start, startTimeoutMs } = service()
    const { how, timedOut } = await runCommands(start, {
      timeoutMs: startTimeoutMs,
      open: command => {
        const started = open(begun, command)
        become({ mainPid: started.pid ?? 0 })
        return started
      },
      stopsAt: (how, { mayFail }) => begun.stopAsked || (!mayFail && !isSuccess(how, service())),
    })
    begun.up = !timedOut
    begun.timedOut = timedOut
    await afterMain(begun, how)
    return begun.stopAsked ? 'canceled' : state.result === 'success' ? '' : 'failed'
  }

  async function afterMain(begun: Run, how: Ended) {
    begun.ended.resolve(how)
    const succeeded = isSuccess(how, service())
    begun.up &&= succeeded
    become({ mainPid: 0, mainStatus: statusOf(how) })
    if (succeeded && service().remainAfterExit && !begun.stopAsked) become({ active: 'active', sub: 'exited' })
    else await bringDown(begun)
  }

  function bringDown(going: Run): Promise<void> {
    going.down ??= goDown(going)
    return going.down
  }

  async function goDown(going: Run) {
    const { stop, stopTimeoutMs, killSignal } = service()
    become({ active: 'deactivating', sub: 'stop' })
    if (going.up) await runHelpers(going, stop, stopTimeoutMs)
    become({ sub: 'stop-sigterm' })
    const inTime = await endAll(going.invocation, { signal: killSignal, timeoutMs: stopTimeoutMs })
    const how = await going.ended.promise
    ledger.close(going.invocation)
    finish(going, how, going.timedOut || !inTime)
  }

  function finish({ stopAsked }: Run, how: Ended, timedOut: boolean) {
    run = null
    const succeeded = isSuccess(how, service())
    const result = timedOut ? 'timeout' : succeeded ? 'success' : how.signal ? 'signal' : 'exit-code'
    if (!stopAsked && startsAgain(how, service())) {
      become({ active: 'activating', sub: 'auto-restart', result })
      restarting = setTimeout(() => void start(state.restarts + 1), timerMs(service().restartMs))
    } else if (result === 'success') become({ active: 'inactive', sub: 'dead', result })
    else become({ active: 'failed', sub: 'failed', result })
  }

  function stop(): Promise<string> {
    stopping ??= halt().finally(() => {
      stopping = null
    })
    return stopping
  }

  async function halt(): Promise<string> {
    clearTimeout(restarting)
    if (state.sub === 'auto-restart') become({ active: 'inactive', sub: 'dead' })
    if (run) {
      run.stopAsked = true
      await bringDown(run)
    }
    return ''
  }

  async function reload(): Promise<string> {
    const { reload, startTimeoutMs } = service()
    const { active, sub } = state
    if (reload.length === 0) return `reload is not applicable to ${unit}: it has no ExecReload=`
    if (!run || active !== 'active') return 'invalid'
    become({ active: 'reloading', sub: 'reload' })
    const { how, timedOut } = await runHelpers(run, reload, startTimeoutMs)
    if (state.active === 'reloading') become({ active, sub })
    return timedOut ? 'timeout' : how.code === 0 ? '' : 'failed'
  }

  function runHelpers(of: Run, commands: readonly CommandLine[], timeoutMs: number | null) {
    return runCommands(commands, {
      timeoutMs,
      open: command => open(of, command),
      stopsAt: ({ code }, { mayFail }) => code !== 0 && !mayFail,
    })
  }

  function resetFailed() {
    startedAt = []
    if (state.active === 'failed') become({ active: 'inactive', sub: 'dead', result: 'success' })
  }

  return { state: () => state, start: () => start(), stop, reload, resetFailed }
}
