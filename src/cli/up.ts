// The control plane for as long as nobody says stop.
import pino from 'pino'
import { defaultServerLimits, type ServerLimits } from '../server/limits.ts'
import { createLogger } from '../server/logger.ts'
import { serve } from '../server/serve.ts'
import type { Answer, Session } from './command.ts'
import { dataDirectory } from './server.ts'
import { untilTold } from './until-told.ts'
import { UsageError } from './usage.ts'

export interface UpValues {
  readonly data?: string
  readonly listen?: string
  readonly database?: string
  readonly keyFile?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly allowUrl?: readonly string[]
  readonly limit?: readonly string[]
}

export async function runUp(values: UpValues, { terminal, json }: Session): Promise<Answer> {
  const { database, keyFile, tlsCert, tlsKey, allowUrl = [] } = values
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new UsageError('usage.bad-value', '--tls-cert and --tls-key go together')
  const told = untilTold()
  const directory = dataDirectory(values.data)
  try {
    const server = await serve({
      dataDirectory: directory,
      listen: listenOf(values.listen ?? '127.0.0.1:8420'),
      limits: limitsOf(values.limit),
      urlPolicy: { allow: allowUrl },
      logger: loggerOn(terminal),
      ...(database !== undefined && { database }),
      ...(keyFile !== undefined && { keyFile }),
      ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { cert: tlsCert, key: tlsKey } }),
    })
    const started = {
      url: server.url,
      data: directory,
      tokenFile: server.tokenFile,
      ...(server.caFile && { caFile: server.caFile }),
    }
    if (json) terminal.out.write(`${JSON.stringify(started)}\n`)
    else terminal.err.write(startedText(started, database === undefined ? `SQLite in ${directory}` : 'PostgreSQL'))
    const signal = await told.stop
    await server.stop()
    return { exit: 0, json: { stopped: signal }, text: () => 'The control plane has stopped.' }
  } finally {
    told.release()
  }
}

/** Somebody who watches wants to see what is wrong; a journal wants all. */
function loggerOn({ err }: Session['terminal']) {
  const logger = createLogger(pino.destination(2))
  if (err.live) logger.level = 'warn'
  return logger
}

const startedText = (
  { url, tokenFile, caFile }: { url: string; tokenFile: string; caFile?: string },
  where: string,
): string =>
  [
    `  control plane  ${url}   ${where}`,
    `  admin token    ${tokenFile}`,
    ...(caFile === undefined ? [] : [`  authority      ${caFile}`]),
    `  API            ${url}/api/v1/docs`,
    '',
    '  Try, in another terminal:  cairn apply -f examples/homelab',
    '  Ctrl-C stops it; what it knows stays.',
    '',
  ].join('\n')

function listenOf(given: string): { host: string; port: number } {
  const [, bracketed, host, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(given) ?? []
  const number = Number(port)
  if (port === undefined || number > 65_535)
    throw new UsageError('usage.bad-value', `--listen: "${given}" is not HOST:PORT`, {
      hint: '127.0.0.1:8420, [::1]:8420, 0.0.0.0:8420',
    })
  return { host: bracketed ?? (host || '0.0.0.0'), port: number }
}

function limitsOf(given: readonly string[] = []): Partial<ServerLimits> {
  return Object.fromEntries(
    given.map(pair => {
      const [name = '', number = ''] = pair.split('=')
      if (!Object.hasOwn(defaultServerLimits, name) || !/^[1-9]\d*$/.test(number))
        throw new UsageError('usage.bad-value', `--limit: "${pair}" is not NAME=NUMBER`, {
          hint: `Names: ${Object.keys(defaultServerLimits).join(', ')}.`,
        })
      return [name, Number(number)]
    }),
  )
}
