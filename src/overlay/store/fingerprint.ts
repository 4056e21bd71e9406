// The name of a state: its package's name and a hash of everything that decides the result. Equal inputs give an equal
// name on every machine; any edit, also one without a new version, gives another.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/json.ts'
import { byName, type StateName } from '../names.ts'
import type { Package } from './package.ts'

/** Raised when equal inputs start to give another result, so that old states are not taken for new ones. */
const schema = 1

type Named = Pick<Package, 'kind' | 'name' | 'version' | 'inputs' | 'references'>

/** Packages do not change, and an etc overlay has a long name to make. */
const known = new WeakMap<Named, StateName>()

export function stateNameOf(pkg: Named): StateName {
  const name = known.get(pkg) ?? makeName(pkg)
  known.set(pkg, name)
  return name
}

function makeName(pkg: Named): StateName {
  const { kind, name, version, inputs } = pkg
  const references = [...new Set(pkg.references)].sort(byName)
  const hashed = canonicalJson({ schema, kind, name, version, inputs, references })
  return `${name}-${base32(createHash('sha256').update(hashed).digest())}` as StateName
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648 in lower case, without padding: 52 characters for the 32 bytes of a SHA-256. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + alphabet[(held << (5 - bits)) & 31] : text
}
