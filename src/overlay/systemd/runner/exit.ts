// What the end of a process means in systemd's eyes: success or not, and whether the service is started again.
import { unreachable } from '../../../lib/errors.ts'
import type { Ended } from './process.ts'
import type { Service } from './service.ts'

/** Signals that end a daemon in an orderly way; a command that one of them ended did not get through. */
const orderly: readonly (NodeJS.Signals | null)[] = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGPIPE']

export function isSuccess({ code, signal }: Ended, { type, success }: Service): boolean {
  if (code === 0 || success.has(code ?? signal ?? 0)) return true
  return type !== 'oneshot' && orderly.includes(signal)
}

export function startsAgain(how: Ended, service: Service): boolean {
  switch (service.restart) {
    case 'no':
      return false
    case 'always':
      return true
    case 'on-success':
      return isSuccess(how, service)
    case 'on-failure':
      return !isSuccess(how, service)
    case 'on-abnormal':
    case 'on-abort':
      return !isSuccess(how, service) && how.signal !== null
    default:
      return unreachable(service.restart)
  }
}
