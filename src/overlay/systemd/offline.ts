// No service manager: a tree below --root, or --no-systemd in an image build. Nothing runs and nothing is done, but a plan
// is to say what a machine with this /etc would do: its usual targets count as up, and so do the units that they want.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno } from '../../lib/errors.ts'
import type { UnitName } from '../names.ts'
import { isUnitFileName } from '../units/unit-name.ts'
import { notFound } from './status.ts'
import type { Systemd } from './systemd.ts'

export const standardTargets: ReadonlySet<UnitName> = new Set(
  [
    'basic',
    'cryptsetup',
    'default',
    'getty',
    'graphical',
    'local-fs',
    'machines',
    'multi-user',
    'network',
    'network-online',
    'nss-lookup',
    'nss-user-lookup',
    'paths',
    'remote-fs',
    'slices',
    'sockets',
    'swap',
    'sysinit',
    'time-set',
    'time-sync',
    'timers',
  ].map(name => `${name}.target` as UnitName),
)

export function offlineSystemd({ etc }: { etc: string }): Systemd {
  let up: ReadonlySet<UnitName> | undefined
  const upNow = () => {
    up ??= new Set([...standardTargets, ...wantedUnits(join(etc, 'systemd/system'))])
    return up
  }
  return {
    kind: 'offline',
    show: async units =>
      new Map(
        units.map(unit => [
          unit,
          upNow().has(unit) ? { ...notFound(unit), load: 'loaded', active: 'active', sub: 'running' } : notFound(unit),
        ]),
      ),
    active: async () => [...upNow()],
    daemonReload: async () => {
      up = undefined
    },
    resetFailed: async () => {},
    run: async jobs => jobs.map(({ do: verb, unit }) => ({ do: verb, unit, ok: true, detail: '' })),
    runLater: async timer => {
      endSleeper(timer.unit)
      sleepThenRun(timer)
    },
    cancelLater: async unit => endSleeper(unit),
    lastLines: async () => [],
    close() {},
  }
}

/** A process of its own, since nothing else outlives us here. It carries the name of its timer, to be found by. */
function sleepThenRun({ unit, afterMs, command }: Parameters<Systemd['runLater']>[0]) {
  const script = 'sleep "$1"; shift; exec "$@"'
  const args = ['-c', script, unit, String(afterMs / 1000), ...command]
  const child = spawn('/bin/sh', args, { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
}

function endSleeper(unit: string) {
  for (const pid of namesIn('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      if (words[0] === '/bin/sh' && words[3] === unit) process.kill(-Number(pid))
    } catch (error) {
      if (!isErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) throw error
    }
  }
}

function wantedUnits(directory: string): UnitName[] {
  return [...standardTargets].flatMap(target =>
    ['wants', 'requires'].flatMap(kind => namesIn(join(directory, `${target}.${kind}`)).filter(isUnitFileName)),
  )
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}
