// The names of series and steps, which the aims look results up by.
export const steps = {
  cold: 'pull and verify, nothing there',
  again: 'the same again, all there',
  blob: 'download of one blob',
  verify: 'copy while hashing',
  container: 'container volume through containerd, nothing there',
  unpack: 'container volume without a runtime, content there',
  pulled: 'pulled, an event for each change',
  restarted: 'all there when the manager starts',
} as const

export const who = {
  oneShot: 'cairn content pull',
  daemon: 'cairn content pull, daemon running',
  skopeo: 'skopeo copy to oci:',
  ctr: 'ctr content fetch',
  downloader: "Cairn's downloader",
  curl: 'curl to a file',
  verifier: "Cairn's verifier",
  opensslAndCp: 'openssl dgst, then cp',
  sha256sum: 'sha256sum',
  volume: 'cairn volume create',
  ctrPull: 'ctr image pull',
  umoci: 'umoci unpack',
} as const

export const seriesOf = {
  pull: (image: string, place: Place) => `${image}${place === 'memory' ? ', in memory' : ''}`,
  blob: 'one large blob, in memory',
  container: (image: string) => `volumes of ${image}, in memory`,
  switchboard: 'switchboard',
  openChannel: 'asked again on an open channel',
  resume: 'resume',
  memory: 'memory and bytes written',
}

export type Place = 'disk' | 'memory'
