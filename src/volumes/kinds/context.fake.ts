// What a kind needs of its process: the real disk with real syncs, and a note of what was asked.
import { closeSync, constants, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { contentLayoutOf } from '../../content/layout.ts'
import type { ContentStatus, Sha256, VolumeConfig } from '../../content/messages.ts'
import type { ManagerCalls, ManagerContext } from '../../content/process/calls.ts'
import { realClock } from '../../lib/clock.ts'
import { type Files, realFiles } from '../../lib/files.ts'
import type { CreateRequest } from './kind.ts'

export interface FakeContext extends ManagerContext {
  /** One for each sync: the names, joined; '' for the directory alone. */
  readonly synced: string[]
  readonly logged: string[]
}

export function kindContext(
  options: { files?: Files; mkfs?: ManagerCalls['mkfs']; onSync?: () => void } = {},
): FakeContext {
  const synced: string[] = []
  const logged: string[] = []
  return {
    synced,
    logged,
    peer: unused('peer'),
    layout: contentLayoutOf({ base: '/nowhere', run: '/nowhere' }),
    files: options.files ?? realFiles,
    clock: realClock,
    random: Math.random,
    log: line => logged.push(line),
    signal: new AbortController().signal,
    durability: {
      sync: async (directory, names) => {
        for (const path of [...names.map(name => join(directory, name)), directory]) sync(path)
        synced.push(names.join(' '))
        options.onSync?.()
      },
    },
    calls: unused<ManagerCalls>('calls', options.mkfs ? { mkfs: options.mkfs } : {}),
  }
}

/** Whoever touches more than `used` fails. */
function unused<T extends object>(name: string, used: Partial<T> = {}): T {
  const get = (_: unknown, key: string) => {
    if (key in used) return used[key as keyof T]
    throw new Error(`${name}.${key} is not for this test`)
  }
  return new Proxy({}, { get }) as T
}

function sync(path: string) {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  fsyncSync(fd)
  closeSync(fd)
}

export const aVolume = (fields: Partial<VolumeConfig> = {}): VolumeConfig => ({
  scope: 'volumes',
  displayName: 'a volume',
  owner: 'web',
  id: 'data',
  generation: 1,
  origin: 'download',
  maxSize: 0,
  readOnly: false,
  kind: 'disk',
  format: 'raw',
  verifyOnly: false,
  ...fields,
})

/** A tree that is one verified file. */
export const verifiedFile = (path: string): ContentStatus => {
  const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' as Sha256
  return {
    scope: 'volumes',
    id: 'web-data',
    name: 'image',
    state: 'verified',
    sha256,
    blobs: [{ sha256, role: 'blob', state: 'verified', size: 0, currentSize: 0, path }],
    totalSize: 0,
    currentSize: 0,
    waitingForCerts: false,
  }
}

/** Holes where nothing is written. */
export function sparseFile(path: string, size: number, writes: Readonly<Record<number, Buffer>> = {}) {
  const fd = openSync(path, 'wx', 0o600)
  for (const [at, data] of Object.entries(writes)) writeSync(fd, data, 0, data.length, Number(at))
  ftruncateSync(fd, size)
  closeSync(fd)
}

export const aRequest = (
  target: string,
  fields: Partial<Omit<CreateRequest, 'config'>> & { config?: Partial<VolumeConfig> } = {},
): CreateRequest => ({
  target,
  signal: new AbortController().signal,
  ...fields,
  config: aVolume(fields.config),
})
