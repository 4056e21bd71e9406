// Requests with the one field that matters visible, and edits past the engine.
import { pages } from '../../lib/pages.ts'
import type { EnginePorts } from '../engine.ts'
import type { Source } from '../model/source.ts'
import type { Live, LiveId, Platform, Write } from '../platform.ts'
import type { ApplyRequest } from '../request.ts'

/** A resource as a bundle has it. */
export interface Doc {
  readonly apiVersion?: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly spec?: Readonly<Record<string, unknown>>
}

export const doc = (address: string, spec: Doc['spec'] = {}, metadata: Doc['metadata'] = {}): Doc => {
  const [kind = '', name = ''] = address.split('/')
  return { kind, metadata: { name, ...metadata }, spec }
}

/** `[{kind: Mark, name}]` for each. */
export const marked = (...names: string[]) => ({ associations: names.map(name => ({ kind: 'Mark', name })) })

export const sourceOf = (docs: readonly Doc[], name = 'bundle.json'): Source => ({
  name,
  content: JSON.stringify(docs),
  encoding: 'json',
})

export const aRequest = ({ docs, ...given }: Partial<ApplyRequest> & { docs?: readonly Doc[] } = {}): ApplyRequest => ({
  sources: docs ? [sourceOf(docs)] : [],
  env: {},
  secrets: {},
  skip: [],
  options: {},
  confirm: [],
  lockWaitMs: 0,
  by: 'ann',
  ...given,
})

/** As somebody else would write, past stacks and locks. */
export async function writeOutside({ store, platforms }: EnginePorts, ...writes: Write[]): Promise<void> {
  const [platform] = platforms as readonly [Platform]
  if (platform.transaction === 'shared') return store.transaction(tx => tx.write(writes))
  for (const write of writes) await platform.write!(write, new AbortController().signal)
}

export async function liveOf(ports: EnginePorts, { kind, id }: LiveId): Promise<Live | undefined> {
  for (const platform of ports.platforms) {
    const live = (await platform.read([{ kind, id }])).get(id)
    if (live && 'unreadable' in live) throw new Error(live.unreadable.reason)
    if (live) return live
  }
  return undefined
}

/** Everything that is on all platforms. */
export async function allLive({ platforms }: EnginePorts): Promise<Live[]> {
  const all: Live[] = []
  for (const platform of platforms)
    for await (const { resources } of pages(from => platform.list({}, { limit: 100, ...from }))) all.push(...resources)
  return all
}

/** A change of what is live: the fields given, everything else as it is. */
export async function editOutside(ports: EnginePorts, live: Live, change: Partial<Pick<Live, 'displayName' | 'spec'>>) {
  const { kind, id, apiVersion, displayName, spec, revision } = live
  const write: Write = { do: 'update', kind, id, apiVersion, displayName, spec, refersTo: [], ifRevision: revision }
  await writeOutside(ports, { ...write, ...change })
}
