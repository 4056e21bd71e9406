// What holds where an owner has set nothing, and until settings are heard.
import type { DownloadSettings, ManagerSettings, VerifierSettings } from './messages.ts'

export interface ProcessSettings {
  readonly downloader: DownloadSettings
  readonly manager: ManagerSettings
  readonly verifier: VerifierSettings
  /** Socket of the container runtime, where one is named. */
  readonly containerd?: string
}

export const defaultSettings: ProcessSettings = {
  downloader: { datastores: [], atOnce: 4, perHost: 3, linkCost: 0, maxCost: 0, stallSeconds: 60, retrySeconds: 600 },
  manager: { gcVolumeSeconds: 3600, deleteDelaySeconds: 0, attempts: 5, reserve: true, maintenance: false },
  verifier: { rehash: 'changed', quarantine: 0 },
}
