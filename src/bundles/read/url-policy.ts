// What an administrator allows for URLs, and which URLs are refused before anything is asked.
import type { Problem } from '../../lib/problem.ts'
import * as told from './url-problems.ts'

export interface UrlPolicy {
  /** Plain http too, not only https. */
  readonly allowHttp: boolean
  /** Hosts and networks that are not public and may be reached all the same: address-guard.ts. */
  readonly allow: readonly string[]
  /** file: URLs below this directory. Without: none. */
  readonly fileRoot?: string
  /** PEM of an authority beside those that the machine trusts. */
  readonly ca?: string
  /** Defaults: 10 s, 30 s, 2 MiB. */
  readonly connectMs?: number
  readonly totalMs?: number
  /** After decompression. */
  readonly mostBytes?: number
  /** How names become addresses; by default as the machine does it. */
  readonly resolve?: Resolve
}

export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export function refusalOf(url: URL, { allowHttp, fileRoot }: UrlPolicy): Problem | undefined {
  const schemes = ['https', ...(allowHttp ? ['http'] : []), ...(fileRoot === undefined ? [] : ['file'])]
  if (!schemes.includes(url.protocol.slice(0, -1))) return told.schemeRefused(url, schemes.join(' or '))
  if (url.username || url.password) return told.credentials(url)
  return jsonnetPath.test(decoded(url.pathname)) ? told.jsonnet(url) : undefined
}

const jsonnetPath = /\.(?:jsonnet|libsonnet)\/*$/i

/** However often it was encoded. */
function decoded(path: string): string {
  let text = path
  for (let next = decodeOnce(text); next !== text; next = decodeOnce(text)) text = next
  return text
}

const decodeOnce = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
