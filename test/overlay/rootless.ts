// One machine below a directory of an ordinary user, asked through the program alone: what it answers, what it exits with,
// and what then lies on disk.
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { realFiles } from '../../src/lib/files.ts'
import { type EtcSnapshot, snapshotTree } from '../machine/etc-snapshot.ts'
import { type OrdinaryUser, ordinaryUser } from '../ordinary-user.ts'

export interface RootlessMachine {
  readonly user: OrdinaryUser
  readonly root: string
  /** `cairn node <line> --root … --json`, with the config in a file if there is one: an object, or a text as it stands. */
  node<Said = unknown>(line: string, config?: object | string): Promise<Answer<Said>>
  /** A path below the machine's /etc. */
  etc(target: string): string
  /** A path below its /cairn. */
  store(path: string): string
  /** All of the machine as a value, but for its locks and the notes of the verifier; empty when it is not there. */
  snapshot(): EtcSnapshot
  /** What `current` points to; null for none. */
  current(): string | null
  /** The name of the one state that a package of this name has. */
  stateOf(name: string): string
  /** Names in the store that have to do with packages: states, records, content on its way, half-made ones included. */
  inStore(): string[]
}

export interface Answer<Said> {
  readonly code: number
  readonly said: Said
}

export async function rootlessMachine(): Promise<RootlessMachine> {
  const user = await ordinaryUser()
  const root = join(user.home, 'machine')
  const store = (path: string) => join(root, 'cairn', path)
  const isThere = (path: string) => existsSync(store(path))
  return {
    user,
    root,
    async node<Said>(line: string, config?: object | string) {
      const text = typeof config === 'object' ? JSON.stringify(config, null, 2) : config
      const file = text === undefined ? [] : ['-f', user.write('overlay.json', text)]
      const { code, stdout, stderr } = await user.cairn('node', ...line.split(' '), ...file, '--root', root, '--json')
      if (stderr !== '') throw new Error(`cairn node ${line} --json wrote to standard error:\n${stderr}`)
      return { code, said: JSON.parse(stdout) as Said }
    },
    etc: target => join(root, 'etc', target),
    store,
    snapshot() {
      const all = existsSync(root) ? Object.entries(snapshotTree(root)) : []
      return Object.fromEntries(all.filter(([path]) => !isNote(path)))
    },
    current: () => (realFiles.lstat(store('current')) ? readlinkSync(store('current')) : null),
    stateOf(name) {
      const [state, ...more] = readdirSync(store('states')).filter(found => found.slice(0, -53) === name)
      if (state === undefined || more.length > 0)
        throw new Error(`${name} has ${state ? 'several states' : 'no state'}`)
      return state
    },
    inStore: () =>
      ['states', 'records', 'content/pending', 'content/verified', 'configs']
        .filter(isThere)
        .flatMap(directory => readdirSync(store(directory)).map(name => `${directory}/${name}`))
        .sort(),
  }
}

/** Written by whoever looks: who holds a lock, what was hashed when. */
export const isNote = (path: string): boolean =>
  /^(cairn\/locks\/.*|run\/cairn\/supervisor\.lock|cairn\/content\/verifier\/ledger\.json)$/.test(path)
