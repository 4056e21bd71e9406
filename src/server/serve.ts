// The control plane as one process: database, engine, HTTP, controllers; started in this order, stopped in the other.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { collectDefaultMetrics } from 'prom-client'
import { createEngine } from '../bundles/engine.ts'
import { fetchSource } from '../bundles/read/url.ts'
import type { UrlPolicy } from '../bundles/read/url-policy.ts'
import { type Clock, realClock } from '../lib/clock.ts'
import { removeIfThere, writeDurably } from '../lib/durable.ts'
import { CairnError, isErrno, messageOf } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { makeId } from '../lib/id.ts'
import { kinds } from '../resources/kinds/all.ts'
import { ensureAdminToken } from './admin-token.ts'
import { runControllers } from './controllers.ts'
import { openDatabase } from './database/open.ts'
import { createServer } from './http.ts'
import { defaultServerLimits, type ServerLimits } from './limits.ts'
import { createLogger } from './logger.ts'
import type { Database } from './ports.ts'
import { type ServerTls, tlsFor } from './tls/server-tls.ts'

export interface ServeOptions {
  readonly dataDirectory: string
  readonly listen: { readonly host: string; readonly port: number }
  /** `postgres://…`; absent: SQLite in the data directory. */
  readonly database?: string
  /** Files; absent: plain HTTP on loopback, a certificate of its own elsewhere. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Of the vault that seals secrets. */
  readonly keyFile?: string
  readonly limits?: Partial<ServerLimits>
  readonly urlPolicy?: Partial<UrlPolicy>
  /** Default: JSON lines on standard output. */
  readonly logger?: Logger
  readonly clock?: Clock
}

export interface Serving {
  readonly url: string
  /** What clients have to trust, when the certificate is of its own making. */
  readonly caFile?: string
  readonly tokenFile: string
  /** Graceful: see Server.stop. May be called again. */
  stop(): Promise<void>
}

/** For the command line on this machine: where the server is, and with which token. */
export const serverFileIn = (dataDirectory: string): string => join(dataDirectory, 'server.json')

export async function serve(options: ServeOptions): Promise<Serving> {
  const { dataDirectory, logger = createLogger(), clock = realClock, keyFile, database: url } = options
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const tls = tlsFor({ dataDirectory, host: options.listen.host, clock, ...(options.tls && { given: options.tls }) })
  const log = (line: string) => logger.info(line)
  const database = await openDatabase({
    dataDirectory,
    kinds,
    clock,
    log,
    ...(url !== undefined && { url }),
    ...(keyFile !== undefined && { keyFile }),
  })
  try {
    return await serveOver(database, options, { tls, clock, logger, log })
  } catch (error) {
    await database.close()
    throw error
  }
}

async function serveOver(
  database: Database,
  { dataDirectory, listen, limits, urlPolicy }: ServeOptions,
  {
    tls,
    clock,
    logger,
    log,
  }: { readonly tls: ServerTls | null; readonly clock: Clock; readonly logger: Logger; log(line: string): void },
): Promise<Serving> {
  const common = {
    clock,
    newId: () => makeId(clock.now()),
    limits: { ...defaultServerLimits, ...limits },
    fetchSource: (source: string, signal?: AbortSignal) =>
      fetchSource(source, { allowHttp: false, allow: [], ...urlPolicy }, signal),
  }
  const engine = createEngine({ ...common, store: database.store, platforms: [database.platform], log })
  await engine.recover()
  const tokenFile = await ensureAdminToken({ database, dataDirectory, clock })
  const server = createServer({ ...common, database, engine, kinds, logger, ...(tls && { tls }) })
  collectDefaultMetrics({ register: server.metrics.registry })
  const port = await listening(server.app, listen)
  const controllers = runControllers({ engine, database, clock, logger })

  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host
  const serverUrl = `${tls ? 'https' : 'http'}://${isAnyAddress(listen.host) ? 'localhost' : host}:${port}`
  const found = { url: serverUrl, ...(tls?.caFile !== undefined && { caFile: tls.caFile }), tokenFile }
  const serverFile = serverFileIn(dataDirectory)
  writeDurably(realFiles, serverFile, `${JSON.stringify({ ...found, pid: process.pid })}\n`, { mode: 0o600 })
  logger.info({ url: serverUrl, database: database.kind }, 'listening')

  const stopNow = async () => {
    logger.info('stopping')
    removeIfThere(realFiles, serverFile)
    await Promise.all([server.stop(), controllers.stop()])
    await database.close()
    logger.info('stopped')
  }
  let stopped: Promise<void> | undefined
  return {
    ...found,
    stop: () => {
      stopped ??= stopNow()
      return stopped
    },
  }
}

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

async function listening(app: ReturnType<typeof createServer>['app'], { host, port }: ServeOptions['listen']) {
  try {
    await app.listen({ host, port })
  } catch (cause) {
    const where = `${host}:${port}`
    if (isErrno(cause, 'EADDRINUSE'))
      throw new CairnError('server.address-taken', `something else listens on ${where}`, {
        hint: 'Is a server running already? Choose another address with --listen HOST:PORT.',
        cause,
      })
    throw new CairnError('server.cannot-listen', `cannot listen on ${where}: ${messageOf(cause)}`, { cause })
  }
  const address = app.server.address()
  return typeof address === 'object' && address ? address.port : port
}
