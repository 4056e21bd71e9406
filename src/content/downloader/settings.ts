// The settings as they were last published, and how often the credentials among them have changed.
import { canonicalJson } from '../../lib/json.ts'
import { defaultSettings } from '../default-settings.ts'
import type { DownloadSettings } from '../messages.ts'
import type { Peer } from '../pubsub/peer.ts'

export interface Settings {
  now(): DownloadSettings
  /** Counts the changes of datastores: what failed before may work with others. */
  readonly credentials: number
  /** True when something is new. */
  refresh(): boolean
}

/** Until something is published. */
const unsaid = defaultSettings.downloader

export function readSettings(peer: Pick<Peer, 'all'>): Settings {
  let current = unsaid
  let credentials = 0
  return {
    now: () => current,
    get credentials() {
      return credentials
    },
    refresh() {
      const next = peer.all('downloadSettings').get('') ?? unsaid
      if (next === current) return false
      if (canonicalJson(next.datastores) !== canonicalJson(current.datastores)) credentials++
      current = next
      return true
    },
  }
}
