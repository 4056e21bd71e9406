// The log of a server: one JSON line for what happened. What is logged is chosen field by field; the net below is for what
// somebody adds without thinking of it.
import { type DestinationStream, type Logger, pino } from 'pino'

const never = ['authorization', 'token', 'text', 'secret', 'secrets', 'value', 'body', 'password', 'key']

export function createLogger(destination?: DestinationStream): Logger {
  const options = {
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: never.flatMap(name => [name, `*.${name}`, `*.*.${name}`]), censor: '[hidden]' },
  }
  return destination ? pino(options, destination) : pino(options)
}
