// Who may have a volume, and which configs fit what is made already. A shared volume has many readers and one writer;
// any other belongs to the first who asked. What a volume was made from and as does not change within a generation.
import type { VolumeConfig } from '../../content/messages.ts'
import type { VolumeRecord } from '../names.ts'
import type { Failure } from './protocol.ts'
import { same } from './publish.ts'

/** The claim that decides what is made: the writer, else whoever led before, else the first by key. */
export function leadingClaim(claims: ReadonlyMap<string, VolumeConfig>, before: string | null): string {
  const keys = [...claims.keys()]
  const writers = keys.filter(key => !claims.get(key)!.readOnly)
  const among = writers.length > 0 ? writers : keys
  return before !== null && among.includes(before) ? before : among[0]!
}

/** Why a claim beside the leading one cannot be served; null when it reads what the other made. */
export function claimFailure(config: VolumeConfig, leading: VolumeConfig): Failure | null {
  const name = config.displayName || config.id
  if (config.owner !== 'shared')
    return {
      code: 'volume.claimed',
      text: `${name} belongs to the scope ${leading.scope}; only a volume of owner shared can be used by two`,
    }
  if (!config.readOnly)
    return {
      code: 'volume.claimed',
      text: `${name} is written by the scope ${leading.scope} already; others may only read it`,
    }
  const wrong = differences(config, leading)
  return wrong.length === 0
    ? null
    : {
        code: 'volume.generation-required',
        text: `${name} is another volume for the scope ${leading.scope}: ${wrong.join(', ')}`,
      }
}

/** Names of the fields that contradict what is on disk or what was asked for when it was made. */
export function contradictions(
  config: VolumeConfig,
  record: VolumeRecord,
  asked: VolumeConfig | null,
  latched?: string,
): string[] {
  const wrong = new Set(asked ? differences(config, asked) : [])
  if (record.origin !== config.origin) wrong.add('origin')
  if (record.kind !== config.kind) wrong.add('kind')
  if (config.kind === 'disk' && record.format !== config.format) wrong.add('format')
  const digest = config.content?.sha256 ?? latched
  if (digest !== undefined && record.sha256 !== undefined && digest !== record.sha256) wrong.add('digest')
  if (config.maxSize > 0 && config.maxSize < record.size) wrong.add('smaller maxSize')
  return [...wrong]
}

function differences(one: VolumeConfig, other: VolumeConfig): string[] {
  const wrong: string[] = []
  if (one.kind !== other.kind) wrong.push('kind')
  if (one.kind === 'disk' && one.format !== other.format) wrong.push('format')
  if (isOtherContent(one, other)) wrong.push('digest')
  if (!same(one.cloudInit, other.cloudInit)) wrong.push('cloudInit')
  if (one.fileSystem !== other.fileSystem) wrong.push('fileSystem')
  return wrong
}

/** By digest where both have one; else what is not pinned is what its name says. */
function isOtherContent({ content: one }: VolumeConfig, { content: other }: VolumeConfig): boolean {
  if (!one || !other) return one !== other
  if (one.sha256 && other.sha256) return one.sha256 !== other.sha256
  return one.name !== other.name || one.tag !== other.tag
}
