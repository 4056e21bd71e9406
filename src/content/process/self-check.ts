// The proof that a process has no network: it tries to connect, and must be hindered. The loopback address comes first; only
// when that is blocked is an address elsewhere tried, one that is set aside for documentation and belongs to nobody.
import { connect } from 'node:net'

export interface SelfCheck {
  /** Every try was blocked. */
  readonly checked: boolean
  /** How each try ended: an error code, `connected` or `timeout`. */
  readonly proof: readonly string[]
}

export type TryConnect = (host: string) => Promise<string>

const blocked = ['ERR_ACCESS_DENIED', 'ENETUNREACH', 'EACCES', 'EPERM']
const patienceMs = 1000
/** Discard; hardly anything listens there, and an answer of any kind means that there is a network. */
const port = 9

export async function checkNoNetwork(tryConnect: TryConnect = tryToConnect): Promise<SelfCheck> {
  const proof: string[] = []
  for (const host of ['127.0.0.1', '192.0.2.1']) {
    proof.push(await tryConnect(host))
    if (!blocked.includes(proof.at(-1)!)) return { checked: false, proof }
  }
  return { checked: true, proof }
}

function tryToConnect(host: string): Promise<string> {
  return new Promise(resolve => {
    const socket = connect({ host, port, timeout: patienceMs })
    const done = (how: string) => {
      socket.destroy()
      resolve(how)
    }
    socket.on('connect', () => done('connected'))
    socket.on('timeout', () => done('timeout'))
    socket.on('error', error => done('code' in error ? String(error.code) : error.name))
  })
}
