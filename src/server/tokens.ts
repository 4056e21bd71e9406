// Tokens: `cairn_<id>_<secret>`. The id finds it, the secret proves it; only a hash of the secret is kept.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256Hex } from '../lib/json.ts'
import { Secret } from '../lib/redact.ts'

export interface NewToken {
  readonly text: Secret
  readonly hash: string
}

const spelling = /^cairn_([0-9a-z]{1,64})_([0-9a-f]{64})$/

/** 256 bits of chance: there is nothing to guess, so a plain hash is enough. */
export function makeToken(id: string, random: (bytes: number) => Buffer = randomBytes): NewToken {
  const secret = random(32).toString('hex')
  return { text: new Secret(`cairn_${id}_${secret}`), hash: sha256Hex(secret) }
}

/** Null when the text is no token at all. */
export function parseToken(text: string): { readonly id: string; readonly hash: string } | null {
  const [, id, secret] = spelling.exec(text) ?? []
  return id !== undefined && secret !== undefined ? { id, hash: sha256Hex(secret) } : null
}

export const hashesAgree = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
