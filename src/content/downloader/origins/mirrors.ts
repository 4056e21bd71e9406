// Who else has what a source has. Mirrors need no trust: the verifier decides. Pure.
import type { Source } from '../../source.ts'
import type { Hosts } from './hosts.ts'

/** The source itself with the mirrors of its host before it, in order. */
export function mirrored(source: Source, hosts: Hosts): readonly Source[] {
  if (source.kind === 'registry') return [...hosts.mirrorsOf(source.host).map(host => ({ ...source, host })), source]
  const url = source.kind === 'url' ? URL.parse(source.url) : null
  // A query may be a signature for this very host, and user names are for it alone.
  if (url?.search !== '' || url.username !== '') return [source]
  const others = hosts.mirrorsOf(url.host).map(host => `${hosts.addressOf(host)}${url.pathname}`)
  return [...others.map(address => ({ kind: 'url' as const, url: address })), source]
}
