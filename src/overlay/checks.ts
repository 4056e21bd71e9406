// Runs checks until each holds or its time is up. All run at once; the answer names those that never held, and why.
import { connect } from 'node:net'
import { join } from 'node:path'
import { parseDuration } from '../lib/duration.ts'
import { messageOf } from '../lib/errors.ts'
import { run } from '../lib/run.ts'
import { safeUrl } from '../lib/safe-url.ts'
import type { Check } from '../resources/check.ts'
import type { NodeContext } from './context.ts'
import type { UnitName } from './names.ts'

export interface FailedCheck {
  readonly name: string
  readonly reason: string
}

type CheckContext = Pick<NodeContext, 'files' | 'systemd' | 'clock' | 'layout'>

type Probe = { readonly holds: true } | { readonly holds: false; readonly why: string }

const defaultWithin = '30s'
const pauseMs = 250
const oneTryMs = 5_000

export async function runChecks(checks: readonly Check[], context: CheckContext): Promise<FailedCheck[]> {
  const answers = await Promise.all(checks.map(check => waitFor(check, context)))
  return answers.filter(answer => answer !== null)
}

async function waitFor(check: Check, context: CheckContext): Promise<FailedCheck | null> {
  const { clock } = context
  const within = parseDuration(check.within ?? defaultWithin)
  const holdMs = 'unit' in check ? parseDuration(check.for ?? '0s') : 0
  const giveUp = clock.monotonicMs() + within
  let heldSince: number | null = null
  for (let tries = 1; ; tries++) {
    const probe = await probeOnce(check, context)
    const now = clock.monotonicMs()
    heldSince = probe.holds ? (heldSince ?? now) : null
    if (heldSince !== null && now - heldSince >= holdMs) return null
    if (now >= giveUp)
      return { name: check.name, reason: probe.holds ? 'did not hold long enough' : `${probe.why} (${tries} tries)` }
    await clock.sleep(pauseMs)
  }
}

async function probeOnce(check: Check, { files, systemd, layout }: CheckContext): Promise<Probe> {
  if ('http' in check) return probeHttp(check.http)
  if ('tcp' in check) return probeTcp(check.tcp)
  if ('command' in check) return probeCommand(check.command)
  if ('file' in check)
    return files.lstat(join(layout.prefix, check.file)) ? { holds: true } : no(`${check.file} does not exist`)
  const unit = check.unit as UnitName
  const status = (await systemd.show([unit])).get(unit)
  return status?.active === 'active' ? { holds: true } : no(`${unit} is ${status?.active ?? 'unknown'}`)
}

async function probeHttp(url: string): Promise<Probe> {
  try {
    const { address, headers } = withoutUserinfo(url)
    const answer = await fetch(address, { headers, signal: AbortSignal.timeout(oneTryMs), redirect: 'manual' })
    await answer.body?.cancel()
    return answer.ok ? { holds: true } : no(`HTTP ${answer.status} from ${safeUrl(url)}`)
  } catch (error) {
    const cause = error instanceof Error && error.cause ? error.cause : error
    return no(`no answer from ${safeUrl(url)}: ${messageOf(cause)}`)
  }
}

/** fetch refuses an address with a password, and says it in full. */
function withoutUserinfo(url: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(url)
  const { username, password } = address
  if (!username && !password) return { address, headers: {} }
  address.username = ''
  address.password = ''
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { address, headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } }
}

function probeTcp(address: string): Promise<Probe> {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? []
  if (!host || !port) return Promise.resolve(no(`"${address}" is not host:port`))
  return new Promise(done => {
    const socket = connect({ host, port: Number(port), timeout: oneTryMs })
    const answer = (probe: Probe) => {
      socket.destroy()
      done(probe)
    }
    socket.once('connect', () => answer({ holds: true }))
    socket.once('timeout', () => answer(no(`${address} does not answer`)))
    socket.once('error', error => answer(no(`${address}: ${messageOf(error)}`)))
  })
}

async function probeCommand([program = '', ...args]: readonly string[]): Promise<Probe> {
  try {
    const { code, stderr } = await run(program, args, { timeoutMs: oneTryMs })
    return code === 0 ? { holds: true } : no(`${program} exited ${code ?? 'by a signal'}: ${stderr.trim().slice(-200)}`)
  } catch (error) {
    return no(`${program}: ${messageOf(error)}`)
  }
}

const no = (why: string): Probe => ({ holds: false, why })
