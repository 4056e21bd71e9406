// From a command line of a unit to a process: its environment, its directories, and every path put below the root.
import { dirname, join } from 'node:path'
import { makeDirectories } from '../../../lib/durable.ts'
import { messageOf } from '../../../lib/errors.ts'
import type { Files } from '../../../lib/files.ts'
import type { Layout } from '../../layout.ts'
import type { UnitName } from '../../names.ts'
import { type CommandLine, substitute } from './command-line.ts'
import { type Environment, readEnvironmentFile } from './environment.ts'
import type { Invocation } from './invocation.ts'
import type { Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { type Started, startProcess } from './process.ts'
import { pathsBelow } from './seen-paths.ts'
import type { OptionalPath, Service } from './service.ts'

export interface Launch {
  readonly service: Service
  readonly command: CommandLine
  readonly invocation: Invocation
  /** 0 while there is none. */
  readonly mainPid: number
}

/** Never throws: what keeps a process from being started is in the unit's log, and the process counts as failed. */
export type Launcher = (launch: Launch) => Started

/** Where this Node is first, so that `#!/usr/bin/env node` finds it; then what systemd takes. */
const defaultPath = `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`
/** systemd's exit status for a process that got no directory; ours for everything that is missing before it begins. */
const notReady = 200

export function launcherFor(context: {
  files: Files
  layout: Layout
  ledger: Ledger
  logOf: (unit: UnitName) => Log
}): Launcher {
  const { files, layout, ledger, logOf } = context
  const below = pathsBelow(layout)

  return launch => {
    const output = (bytes: Uint8Array) => logOf(launch.invocation.unit).write(bytes)
    try {
      const started = open(launch, output)
      if (started.pid !== null) ledger.began(launch.invocation, started.pid)
      return started
    } catch (error) {
      output(Buffer.from(`${messageOf(error)}\n`))
      return { pid: null, ended: Promise.resolve({ code: notReady, signal: null }) }
    }
  }

  function open(launch: Launch, output: (bytes: Uint8Array) => void): Started {
    const { service, command } = launch
    const environment = environmentFor(launch)
    const mapped = command.words.map(below)
    const [program = '', ...rest] = command.substitutes ? substitute(mapped, environment) : mapped
    const [argv0 = program, ...args] = command.namesItself ? rest : [program, ...rest]
    const directory = find(service.workingDirectory) ?? layout.prefix
    return startProcess({ program, args, argv0, environment, directory, output })
  }

  function environmentFor({ service, invocation, mainPid }: Launch): Environment {
    const fromFiles = service.environmentFiles
      .flatMap(file => find(file) ?? [])
      .flatMap(path => Object.entries(readEnvironmentFile(files.readFile(path).toString('utf8'))))
    const assigned = [...Object.entries(service.environment), ...fromFiles].map(([name, value]) => [name, below(value)])
    const states = service.stateDirectories.map(name => join(layout.prefix, 'var/lib', name))
    for (const state of states) makeDirectories(files, state)
    return {
      PATH: defaultPath,
      LANG: 'C.UTF-8',
      ...Object.fromEntries(assigned),
      ...(states.length > 0 ? { STATE_DIRECTORY: states.join(':') } : {}),
      ...(mainPid > 0 ? { MAINPID: String(mainPid) } : {}),
      INVOCATION_ID: invocation.id,
    }
  }

  /** Where a path of the machine is; null when nothing is there that need not be. */
  function find({ path, optional }: OptionalPath): string | null {
    const found = path === '/' ? layout.prefix : below(path)
    if (files.lstat(found)) return found
    if (optional) return null
    throw new Error(`${path} does not exist`)
  }
}
