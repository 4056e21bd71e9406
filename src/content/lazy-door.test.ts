// The door of a command, beside a supervisor that runs already; its processes are the test.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from '../lib/clock.ts'
import { realFiles } from '../lib/files.ts'
import { silentProgress } from '../lib/progress.ts'
import { contentLayoutOf } from './layout.ts'
import { lazyDoor } from './lazy-door.ts'
import type { Sha256 } from './messages.ts'
import { openHub } from './pubsub/hub.ts'
import { memoryLinks } from './pubsub/memory-link.ts'
import { openPeer } from './pubsub/open-peer.ts'
import { aContentConfig, until } from './pubsub/pubsub.fake.ts'
import { socketLink } from './pubsub/socket-link.ts'
import { makeContentDirectories } from './supervisor/directories.ts'
import { openSockets } from './supervisor/sockets.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cairn-lazy-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const request = (name: string) => ({
  ...({ scope: 'packages', ref: aContentConfig('x', name).ref, label: name } as const),
  ...{ progress: silentProgress, signal: new AbortController().signal },
})

/** Says of everything at once that it is verified. */
async function aSupervisor() {
  const layout = contentLayoutOf({ base: join(root, 'cairn'), run: join(root, 'run/cairn') })
  makeContentDirectories(realFiles, layout, null)
  const hub = openHub({ requests: layout.requests, files: realFiles, clock: realClock, log: () => {} })
  const [theirs, ours] = memoryLinks()
  hub.accept(theirs, { role: 'manager' })
  const manager = openPeer(ours)
  await manager.listed
  manager.onChange(() => {
    for (const [key, { scope, id, ref }] of manager.all('contentConfig')) {
      const sha256 = ref.sha256 as Sha256
      const blob = { sha256, role: 'blob', state: 'verified', size: 1, currentSize: 1, path: '/v' } as const
      manager.publish('contentStatus', key, {
        ...{ scope, id, name: ref.name, state: 'verified', sha256, blobs: [blob] },
        ...{ totalSize: 1, currentSize: 1, waitingForCerts: false },
      })
    }
  })
  let [opened, closed] = [0, 0]
  const sockets = await openSockets(layout.run, (socket, role) => {
    opened++
    hub.accept(socketLink(socket), { role, onClose: () => closed++ })
  })
  return {
    manager,
    channels: () => ({ opened, closed }),
    close: async () => {
      await sockets.close()
      hub.close()
    },
  }
}

describe('a door that is opened by the first who goes through it', () => {
  it('starts nothing and writes nothing when nobody does', async () => {
    await lazyDoor({ root }).close()
    expect(readdirSync(root)).toEqual([])
  })

  it('joins a supervisor that runs, once for all, with the settings of the machine, and leaves it running', async () => {
    mkdirSync(join(root, 'etc/cairn'), { recursive: true })
    writeFileSync(join(root, 'etc/cairn/content.json'), '{"content.deleteDelay": "5s"}')
    const supervisor = await aSupervisor()
    try {
      const door = lazyDoor({ root })
      const held = await Promise.all(['one', 'two', 'one'].map(name => door.fetch(request(name))))
      expect(held.map(({ status }) => status.name)).toEqual(['one', 'two', 'one'])
      expect(supervisor.channels()).toEqual({ opened: 1, closed: 0 })
      expect(supervisor.manager.all('managerSettings').get('')).toMatchObject({ deleteDelaySeconds: 5 })
      for (const { release } of held) release()
      await door.close()
      await until(() => supervisor.channels().closed === 1)
      expect([...supervisor.manager.all('contentConfig').keys()]).toEqual([])
    } finally {
      await supervisor.close()
    }
  })

  it('tells everybody who asks why it cannot be opened, and can be closed all the same', async () => {
    mkdirSync(join(root, 'etc/cairn'), { recursive: true })
    writeFileSync(join(root, 'etc/cairn/content.json'), '{"content.atOnce": 99}')
    const door = lazyDoor({ root })
    for (const name of ['one', 'two'])
      await expect(door.fetch(request(name))).rejects.toMatchObject({ problems: [{ path: '["content.atOnce"]' }] })
    await door.close()
    expect(readdirSync(root)).toEqual(['etc'])
  })
})
