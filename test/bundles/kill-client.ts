// Clients that change stacks one state after another while the server may die at any moment, and that remember what they
// sent and what was acknowledged. Requests are made by hand, to see when each part of one happens.
import { request as httpRequest } from 'node:http'
import { nextWorld, sourceOf, type World } from './kill-world.ts'

export type Happening = 'sent' | 'running' | 'done' | 'answered'

/** One change that was asked for. */
export interface Change {
  /** Null: the stack is to be gone. */
  readonly world: World | null
  readonly sentAt: number
  /** Null while it is not known whether it was done. */
  acknowledged: null | {
    readonly at: number
    /** Null for a streamed answer, which is audited after it is sent. */
    readonly audited: string | null
  }
}

export interface Slot {
  readonly stack: string
  /** The stack is made by an apply, and deleted again. */
  readonly comesAndGoes: boolean
  /** As it was found when nothing was under way; null: not there. */
  found: World | null
  /** Since then. */
  changes: Change[]
}

export interface Clients {
  readonly url: string
  readonly token: string
  readonly random: () => number
  newNumber(): number
  happens(what: Happening): void
}

/** Changes the stack again and again until `over`; a connection that is lost ends it. Throws when a change is refused. */
export async function drive(clients: Clients, slot: Slot, over: () => boolean): Promise<void> {
  while (!over()) if (!(await change(clients, slot))) return
}

/** False when the connection was lost. */
export async function change(clients: Clients, slot: Slot): Promise<boolean> {
  const { random } = clients
  const last = lastOf(slot)
  const world =
    slot.comesAndGoes && last && random() < 0.5 ? null : nextWorld(slot.stack, clients.newNumber(), last, random)
  const sent: Change = { world, sentAt: performance.now(), acknowledged: null }
  slot.changes.push(sent)
  const streams = world !== null && random() < 0.5
  const answer = await ask(clients, requestFor(slot, last, world), streams)
  if (!answer) return false
  if (answer.status >= 300)
    throw new Error(`a change of ${slot.stack} was refused: ${answer.status} ${problemsIn(answer.text)}`)
  sent.acknowledged = { at: performance.now(), audited: streams ? null : answer.requestId }
  return true
}

const problemsIn = (text: string): string => JSON.stringify((JSON.parse(text) as { problems?: unknown }).problems)

/** What it probably is now. Of a stack with two clients, neither knows what the other is about to do. */
const lastOf = ({ found, changes }: Slot): World | null => {
  const done = changes.findLast(({ acknowledged }) => acknowledged)
  return done ? done.world : found
}

function requestFor({ stack, comesAndGoes }: Slot, last: World | null, world: World | null) {
  const confirm = ['massDelete', 'dataLoss']
  if (!world) {
    const query = new URLSearchParams([...confirm.map(one => ['confirm', one]), ['lockWait', '20s']])
    return { method: 'DELETE', path: `/api/v1/stacks/${stack}?${query}` }
  }
  const where = comesAndGoes && !last ? { stackName: stack } : { stack }
  const body = { ...where, sources: [sourceOf(world)], secrets: world.secrets, confirm, lockWait: '20s' }
  return { method: 'POST', path: '/api/v1/bundles/apply', body }
}

interface Answer {
  readonly status: number
  readonly requestId: string
  readonly text: string
}

/** Null when the connection was lost before the answer was whole. */
function ask(
  { url, token, happens }: Clients,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: unknown },
  streams: boolean,
): Promise<Answer | null> {
  return new Promise(resolve => {
    const lost = () => resolve(null)
    const headers = {
      authorization: `Bearer ${token}`,
      accept: streams ? 'application/x-ndjson' : 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const request = httpRequest(new URL(path, url), { method, agent: false, headers }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', lost)
      response.on('data', (chunk: string) => {
        text += chunk
        for (const state of ['running', 'done'] as const) if (chunk.includes(`"state":"${state}"`)) happens(state)
      })
      response.on('close', lost)
      response.on('end', () => {
        if (!response.complete) return lost()
        const isStream = String(response.headers['content-type']).startsWith('application/x-ndjson')
        const lastLine = isStream ? (text.trimEnd().split('\n').at(-1) ?? '') : text
        const status = isStream ? (JSON.parse(lastLine) as { status?: number }).status : response.statusCode
        if (status === undefined) return lost()
        resolve({ status, requestId: String(response.headers['x-request-id']), text: lastLine })
        happens('answered')
      })
    })
    request.on('error', lost)
    request.end(body === undefined ? undefined : JSON.stringify(body), () => happens('sent'))
  })
}
