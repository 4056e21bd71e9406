// The beginning and the end of a walled-in process: the proof that it has no network, its channel, its heartbeat.
// Ends the process: with 0 after SIGTERM, with 1 when the wall is missing, the work failed or the supervisor is gone.
import { Socket } from 'node:net'
import { realClock } from '../../lib/clock.ts'
import { realFiles } from '../../lib/files.ts'
import { redact } from '../../lib/redact.ts'
import type { ProcessName } from '../messages.ts'
import { openPeer } from '../pubsub/open-peer.ts'
import { socketLink } from '../pubsub/socket-link.ts'
import type { ManagerContext } from './calls.ts'
import type { Durability, ProcessContext, VerifierContext } from './context.ts'
import { managerCalls } from './manager-calls.ts'
import { checkNoNetwork } from './self-check.ts'
import { type AskSupervisor, askSupervisor, namesPerCall } from './supervisor-calls.ts'

export type ContextOf<Name extends ProcessName> = {
  downloader: ProcessContext
  verifier: VerifierContext
  manager: ManagerContext
}[Name]

/** The file descriptor that the supervisor hands down. */
const channelFd = 3
export const heartbeatMs = 5000

export async function runProcess<Name extends ProcessName>(
  name: Name,
  start: (context: ContextOf<Name>) => Promise<void>,
): Promise<never> {
  const end = new AbortController()
  process.on('SIGTERM', () => end.abort())
  const check = name === 'downloader' ? { checked: false, proof: [] } : await checkNoNetwork()

  const channel = new Socket({ fd: channelFd })
  // Without a supervisor nobody syncs, and another one may start a successor: not one more write.
  channel.on('close', () => process.exit(end.signal.aborted ? 0 : 1))
  const peer = openPeer(socketLink(channel), ({ code, text }) => log(`${code}: ${text}`))
  setInterval(peer.beat, heartbeatMs)
  const ask = askSupervisor(peer)
  const { layout, insecure, downloaderUid } = await ask('begin', {
    process: name,
    pid: process.pid,
    permission: process.permission !== undefined,
    checked: check.checked,
    proof: [...check.proof],
  })
  if (name !== 'downloader' && !check.checked && !insecure) {
    log(`isolation.missing: the ${name} can reach a network (${check.proof.join(', ')}) and does not start`)
    process.exit(1)
  }
  if (end.signal.aborted) process.exit(0)

  const context: ManagerContext & VerifierContext = {
    peer,
    layout,
    files: realFiles,
    durability: supervisedDurability(ask),
    clock: realClock,
    random: Math.random,
    log,
    signal: end.signal,
    downloaderUid,
    calls: managerCalls(ask),
  }
  try {
    await start(context)
  } catch (error) {
    log(`the ${name} failed: ${error instanceof Error ? error.stack : String(error)}`)
    process.exit(1)
  }
  // What was said last still goes out; then the channel closes, and with it the process ends.
  end.abort()
  peer.close()
  return new Promise(() => {})
}

const supervisedDurability = (ask: AskSupervisor): Durability => ({
  sync: async (directory, names) => {
    for (let at = 0; at === 0 || at < names.length; at += namesPerCall)
      await ask('sync', { directory, names: names.slice(at, at + namesPerCall) })
  },
})

const log = (line: string) => void process.stderr.write(`${redact(line)}\n`)
