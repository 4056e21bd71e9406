// What a .service asks of the runner, read from its effective unit. Holds: every setting is honoured, or has no meaning
// for a process, or is refused by name; none is passed over in silence.
import type { UnitName } from '../../names.ts'
import type { EffectiveUnit } from '../../units/effective.ts'
import { Cannot } from './cannot.ts'
import { type CommandLine, readCommandLines } from './command-line.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { readSignal, refuseOthers, settingsOf } from './settings.ts'
import { expandSpecifiers } from './specifiers.ts'

export interface Service {
  readonly type: (typeof types)[number]
  /** Exactly one unless the type is oneshot. */
  readonly start: readonly CommandLine[]
  readonly reload: readonly CommandLine[]
  readonly stop: readonly CommandLine[]
  readonly remainAfterExit: boolean
  readonly environment: Environment
  /** As the machine sees them; read at each start. */
  readonly environmentFiles: readonly OptionalPath[]
  readonly workingDirectory: OptionalPath
  /** Below the machine's /var/lib, made before the start. */
  readonly stateDirectories: readonly string[]
  readonly restart: (typeof restarts)[number]
  readonly restartMs: number
  readonly startLimit: { readonly burst: number; readonly intervalMs: number }
  readonly killSignal: NodeJS.Signals
  /** Milliseconds; null is infinity. */
  readonly startTimeoutMs: number | null
  readonly stopTimeoutMs: number | null
  /** Exit codes and signals that count as success, besides those that always do. */
  readonly success: ReadonlySet<number | NodeJS.Signals>
}

export interface OptionalPath {
  readonly path: string
  /** `-`: it may be missing. */
  readonly optional: boolean
}

/** systemd does not load such a unit either; the message says why. */
export class BadSetting extends Error {}

const types = ['simple', 'exec', 'oneshot'] as const
const restarts = ['no', 'on-success', 'on-failure', 'on-abnormal', 'on-abort', 'always'] as const

const understood = new Set([
  'Type',
  'ExecStart',
  'ExecReload',
  'ExecStop',
  'RemainAfterExit',
  'Environment',
  'EnvironmentFile',
  'WorkingDirectory',
  'StateDirectory',
  'StandardOutput',
  'StandardError',
  'Restart',
  'RestartSec',
  'KillMode',
  'KillSignal',
  'TimeoutSec',
  'TimeoutStartSec',
  'TimeoutStopSec',
  'SuccessExitStatus',
])

/** Throws Cannot or BadSetting. */
export function readService(unit: EffectiveUnit): Service {
  refuseOthers(unit, 'Service', understood)
  const service = settingsOf(unit, 'Service')
  const limits = settingsOf(unit, 'Unit')
  const commands = (key: string) => service.all(key).flatMap(value => readCommandLines(value, unit.name))

  const type = service.choice('Type', types, 'simple')
  const restart = service.choice('Restart', restarts, 'no')
  const start = commands('ExecStart')
  if (start.length === 0) throw new BadSetting('there is no ExecStart=')
  if (start.length > 1 && type !== 'oneshot')
    throw new BadSetting('only Type=oneshot may have several commands in ExecStart=')
  if (restart !== 'no' && type === 'oneshot') throw new Cannot(`honour Restart=${restart} of a oneshot`)
  service.choice('KillMode', ['control-group'], 'control-group')
  for (const key of ['StandardOutput', 'StandardError']) service.choice(key, ['journal', 'inherit'], 'journal')

  const timeout = service.timeSpan('TimeoutSec', undefined)
  const otherwise = (ms: number | null) => (timeout === undefined ? ms : timeout)
  return {
    type,
    start,
    reload: commands('ExecReload'),
    stop: commands('ExecStop'),
    remainAfterExit: service.boolean('RemainAfterExit'),
    environment: readEnvironment(service.all('Environment'), unit.name),
    environmentFiles: service.all('EnvironmentFile').map(value => readPath('EnvironmentFile', value, unit.name)),
    workingDirectory: readPath('WorkingDirectory', service.last('WorkingDirectory') ?? '/', unit.name),
    stateDirectories: service.words('StateDirectory').map(word => readStateDirectory(word, unit.name)),
    restart,
    restartMs: service.timeSpan('RestartSec', 100) ?? Number.POSITIVE_INFINITY,
    startLimit: {
      burst: limits.count('StartLimitBurst', 5),
      intervalMs: limits.timeSpan('StartLimitIntervalSec', 10_000) ?? Number.POSITIVE_INFINITY,
    },
    killSignal: service.signal('KillSignal', 'SIGTERM'),
    startTimeoutMs: service.timeSpan('TimeoutStartSec', otherwise(type === 'oneshot' ? null : 90_000)),
    stopTimeoutMs: service.timeSpan('TimeoutStopSec', otherwise(90_000)),
    success: new Set(service.words('SuccessExitStatus').map(readStatus)),
  }
}

function readPath(key: string, value: string, unit: UnitName): OptionalPath {
  const optional = value.startsWith('-')
  const path = expandSpecifiers(optional ? value.slice(1) : value, unit)
  if (!path.startsWith('/')) throw new Cannot(`honour ${key}=${value}: not an absolute path`)
  return { path, optional }
}

function readStateDirectory(word: string, unit: UnitName): string {
  const name = expandSpecifiers(word, unit)
  if (!/^[\w@.+-]+(\/[\w@.+-]+)*$/.test(name) || name.split('/').some(part => part === '..' || part === '.'))
    throw new Cannot(`honour StateDirectory=${word}`)
  return name
}

function readStatus(word: string): number | NodeJS.Signals {
  const status = /^\d{1,3}$/.test(word) ? Number(word) : readSignal(word)
  if (status === undefined) throw new Cannot(`honour SuccessExitStatus=${word}`)
  return status
}
