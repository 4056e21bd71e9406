// The options of commands that take a whole stack away.
import { duration, flag } from './parameter.ts'

export const removalOptions = {
  yes: flag('-y, --yes', 'do not ask'),
  allowMassDelete: flag('--allow-mass-delete', 'delete all of it'),
  allowDataLoss: flag('--allow-data-loss', 'delete what holds data that cannot be made again'),
  lockWait: duration('--lock-wait DURATION', 'wait this long for another operation on the stack; default 0s'),
}
