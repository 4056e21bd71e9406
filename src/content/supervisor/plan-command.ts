// Decides how a process is started: behind which walls, with which flags, and what it gets to see of the environment.
// Every process has Node's permission model; the verifier and the manager also a network namespace where there can be one.
import { join } from 'node:path'
import type { ContentLayout } from '../layout.ts'
import type { ProcessName } from '../messages.ts'

export interface Layers {
  /** The words that give a command a network namespace of its own; null where the system allows none. */
  readonly netns: readonly string[] | null
  /** The words that keep a command from gaining rights, and end it with its parent; null without the program. */
  readonly setpriv: readonly string[] | null
  /** The user that only the downloader runs as; null without one, without root and without setpriv. */
  readonly downloader: { readonly uid: number; readonly gid: number } | null
}

export interface CommandView {
  readonly name: ProcessName
  readonly layout: ContentLayout
  /** Node, its flags, and Cairn's main file. */
  readonly self: readonly string[]
  /** Where Cairn's own code is. */
  readonly code: readonly string[]
  readonly layers: Layers
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The directories that a process owns: nothing else writes there, and it writes nowhere else. */
export function ownDirectories(name: ProcessName, layout: ContentLayout): readonly string[] {
  switch (name) {
    case 'downloader':
      return [layout.pending]
    case 'verifier':
      return [layout.verifier, layout.verified, layout.quarantine, layout.certs]
    case 'manager':
      return [layout.manager, layout.volumes]
  }
}

export function planCommand({ name, layout, self, code, layers, env }: CommandView): Command {
  const [node = 'node', ...main] = self
  const own = ownDirectories(name, layout)
  const words = [
    ...(name === 'downloader' ? [] : (layers.netns ?? [])),
    ...(layers.setpriv ?? []),
    ...(name === 'downloader' && layers.downloader ? asUser(layers.downloader) : []),
    node,
    ...nodeFlags,
    ...readable(name, layout, [...code, ...clockFiles, ...own]).map(path => `--allow-fs-read=${path}`),
    ...own.map(path => `--allow-fs-write=${path}`),
    ...(name === 'downloader' ? ['--allow-net'] : []),
    ...main,
    '--content-process',
    name,
  ]
  return { program: words[0]!, args: words.slice(1), env: environment(name, env) }
}

/** Small young generations: the processes run side by side on small machines. */
const nodeFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4', '--permission']

/** What the clock reads. */
const clockFiles = ['/proc/uptime', '/proc/stat', '/proc/sys/kernel/random/boot_id']

const asUser = ({ uid, gid }: { uid: number; gid: number }) => [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']

function readable(name: ProcessName, layout: ContentLayout, always: readonly string[]): readonly string[] {
  switch (name) {
    // Files of this machine can be asked for; what it may read is decided by the user it runs as.
    case 'downloader':
      return ['/']
    case 'verifier':
      return [...always, layout.pending, layout.trust]
    case 'manager':
      return [...always, layout.verified]
  }
}

/** For whoever speaks to servers: how to reach them, and whom to believe. */
const networkVariables = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

function environment(name: ProcessName, env: CommandView['env']): Record<string, string> {
  const network = networkVariables.flatMap(variable => [variable, variable.toLowerCase()])
  const passed = ['LANG', ...(name === 'downloader' ? network : [])]
  const known = passed.flatMap(variable => (env[variable] === undefined ? [] : [[variable, env[variable]] as const]))
  return { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', ...Object.fromEntries(known) }
}

/** As modules are found: the sources with what they import, or the bundle; each with the package.json that says how to read it. */
export function codePlaces(here: string): readonly string[] {
  const [, project] = /^(.*)\/src\/content\/supervisor\/[^/]+$/.exec(here) ?? []
  if (project !== undefined) return ['src', 'node_modules', 'package.json'].map(name => join(project, name))
  const bundle = join(here, '..')
  return [bundle, join(bundle, '../package.json')]
}
