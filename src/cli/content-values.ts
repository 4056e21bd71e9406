// Values of content commands that need the content room to be read.
import type { Platform, Sha256 } from '../content/messages.ts'
import { parseDigest } from '../content/reference.ts'
import { UsageError } from './usage.ts'

export function digestOf(text: string): Sha256 {
  const digest = parseDigest(text)
  if (typeof digest === 'string') return digest
  throw new UsageError('usage.bad-value', `--digest: ${digest.reason}`, digest.hint ? { hint: digest.hint } : {})
}

export function platformOf(text: string): Platform {
  const [os, architecture, variant, ...more] = text.split('/')
  if (os && architecture && more.length === 0) return { os, architecture, ...(variant && { variant }) }
  throw new UsageError('usage.bad-value', `--platform: "${text}" is no platform`, { hint: 'Write linux/arm64.' })
}
