// Which service manager a command talks to. The bus where it answers, systemctl where it does not; below --root the runner
// that has that directory, if there is one; none where none is meant.
// Each is loaded only when it is the one: a command that asks nothing of systemd does not pay for it.
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { CairnError, messageOf } from '../../lib/errors.ts'
import type { Systemd } from './systemd.ts'

export interface WhichSystemd {
  /** The tree that is meant; '' or '/' for this machine itself. */
  readonly root: string
  readonly noSystemd: boolean
}

const socket = '/run/dbus/system_bus_socket'

export async function openSystemd({ root, noSystemd }: WhichSystemd): Promise<Systemd> {
  const below = root !== '' && root !== '/'
  const runner = below && !noSystemd ? await (await import('./runner/client.ts')).connectRunner(root) : null
  if (runner) return runner
  if (noSystemd || below) return (await import('./offline.ts')).offlineSystemd({ etc: join(root || '/', 'etc') })
  if (!isThere('/run/systemd/system')) throw unavailable('this machine was not booted with systemd')
  const failures: string[] = []
  for (const open of [openBus, openCommand]) {
    try {
      return await open()
    } catch (error) {
      failures.push(messageOf(error))
    }
  }
  throw unavailable(failures.join('; '))
}

async function openBus(): Promise<Systemd> {
  const address = process.env.DBUS_SYSTEM_BUS_ADDRESS || `unix:path=${socket}`
  // Looked at first, because loading the library costs more than all else a short command does.
  if (address.endsWith(`=${socket}`) && !isThere(socket)) throw unavailable(`there is no ${socket}`)
  return (await import('./dbus.ts')).openDbus({ address })
}

async function openCommand(): Promise<Systemd> {
  return (await import('./systemctl.ts')).openSystemctl()
}

const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined

const unavailable = (why: string) =>
  new CairnError('systemd.unavailable', `systemd cannot be reached: ${why}`, {
    hint: 'With --no-systemd only /etc is changed, and no unit is stopped or started.',
  })
