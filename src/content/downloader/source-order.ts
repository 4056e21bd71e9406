// Where a download is tried, in order: each source of the config after its mirrors, each place once.
import { canonicalJson } from '../../lib/json.ts'
import { safeUrl } from '../../lib/safe-url.ts'
import type { DownloadConfig } from '../messages.ts'
import type { Source } from '../source.ts'
import type { Origins } from './origin.ts'

/** Attempt n begins with place n, so that one that gave wrong bytes comes last. */
export function sourcesInOrder(
  origins: Pick<Origins, 'withMirrors'>,
  { sources, attempt }: Pick<DownloadConfig, 'sources' | 'attempt'>,
): Source[] {
  const all = sources.flatMap(source => origins.withMirrors(source))
  const places = [...new Map(all.map((source): [string, Source] => [canonicalJson(source), source])).values()]
  const first = attempt % places.length
  return [...places.slice(first), ...places.slice(0, first)]
}

/** As it may be shown. */
export function nameOfSource(source: Source): string {
  if (source.kind === 'url') return safeUrl(source.url)
  return source.kind === 'registry' ? `${source.host}/${source.repository}` : source.path
}
