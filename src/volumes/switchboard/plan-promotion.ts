// A volume that lies on disk already is taken over by who asks for it: no copy, no fetch, and from then on one status, in the
// scope of the one who asked. Its name is its identity; a digest that contradicts it is not promoted, and it stays untouched.
import { parseVolumeName, type VolumeRecord } from '../names.ts'
import { latchKeyOf } from './keys.ts'
import type { Found, Turn, Volume } from './model.ts'
import { forgetFound } from './plan-gc.ts'
import { contradictions } from './volume-claims.ts'

export interface Promotion {
  readonly is: 'nothing there' | 'being removed' | 'promoted' | 'refused'
  /** Of the config, when it is refused. */
  readonly wrong: readonly string[]
}

const nothing: Promotion = { is: 'nothing there', wrong: [] }

/** `name` is what the volume is called on disk, `record` what would be noted of it. */
export function promote(turn: Turn, volume: Volume, name: string, record: VolumeRecord): Promotion {
  const { state, effects } = turn
  const { config } = volume
  const latched = config.content ? state.latches.get(latchKeyOf(config.content, volume.identity))?.sha256 : undefined
  const found =
    state.found.get(name) ?? seedOf(turn, volume, config.content?.sha256 ?? latched) ?? otherFormOf(turn, volume, name)
  if (!found) return nothing
  if (found.isDestroying) return { is: 'being removed', wrong: [] }
  if (found.volume.isOrphan) {
    forgetFound(turn, found)
    return nothing
  }
  const wrong = contradictionsOf(found, volume, latched)
  if (wrong.length > 0) {
    if (!found.isHeld) state.dirty.found.add(found.volume.name)
    found.isHeld = true
    volume.holds = found.volume.name
    return { is: 'refused', wrong }
  }
  const { path, usedSize, lastUse, preReboot } = found.volume
  const sha256 = config.content?.sha256 ?? latched
  volume.place = {
    name: found.volume.name,
    path,
    usedSize,
    lastUse,
    preReboot,
    isInPlace: false,
    needsAttach: config.kind === 'container' && config.origin === 'download',
    record: found.volume.record ?? { ...record, ...(sha256 && { sha256 }) },
  }
  if (!found.volume.record) effects.push({ do: 'write record', name: found.volume.name, record: volume.place.record })
  forgetFound(turn, found)
  return { is: 'promoted', wrong: [] }
}

function contradictionsOf(
  { volume: { record, parsed, isDirectory } }: Found,
  { config }: Volume,
  latched: string | undefined,
): string[] {
  const wrong = new Set(record ? contradictions(config, record, null, latched) : [])
  if (isDirectory !== (config.kind === 'container')) wrong.add('kind')
  else if (config.kind === 'disk' && parsed.format !== config.format) wrong.add('format')
  return [...wrong]
}

/** The same volume, made in another format or kind than is asked for now. */
function otherFormOf({ state }: Turn, { config }: Volume, name: string): Found | undefined {
  const wanted = parseVolumeName(name)
  for (const found of state.found.values()) {
    const { parsed, record, isOrphan } = found.volume
    if ('form' in parsed || isOrphan || parsed.id !== config.id || parsed.owner !== config.owner) continue
    if (parsed.generation === wanted?.generation && (record?.origin ?? config.origin) === config.origin) return found
  }
  return undefined
}

/** The older form of names: the digest of the image instead of an id. */
function seedOf({ state }: Turn, { config }: Volume, sha256: string | undefined): Found | undefined {
  if (config.kind !== 'disk' || sha256 === undefined) return undefined
  for (const found of state.found.values()) {
    const { parsed } = found.volume
    if (!('form' in parsed) || parsed.sha256 !== sha256 || parsed.owner !== config.owner) continue
    if (parsed.format === config.format && parsed.generation === config.generation) return found
  }
  return undefined
}
