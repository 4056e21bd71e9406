import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import { connectRunner } from '../../src/overlay/systemd/runner/client.ts'
import { makeTestRoot, removeTestRoot } from '../../src/overlay/systemd/runner/machine.fake.ts'
import { openRunner, type Runner } from '../../src/overlay/systemd/runner/runner.ts'
import { type RunnerServer, serveRunner } from '../../src/overlay/systemd/runner/server.ts'
import { type ManagedMachine, systemdSuite } from '../../src/overlay/systemd/systemd.suite.ts'

// Over the socket, so that client, server and runner are all under test.
let root: string
let runner: Runner
let server: RunnerServer
let machine: ManagedMachine

beforeAll(async () => {
  root = makeTestRoot()
  runner = await openRunner({ root })
  server = await serveRunner(runner, { root })
  const systemd = (await connectRunner(root))!
  const at = (path: string) => join(root, path)
  const clear = (path: string) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    rmSync(at(path), { recursive: true, force: true })
  }
  machine = {
    systemd: {
      ...systemd,
      // The suite names a file of the machine; a command that runs later is this computer's.
      runLater: timer =>
        systemd.runLater({ ...timer, command: timer.command.map(word => word.replace(/^\/run\//, `${root}/run/`)) }),
    },
    write: async (path, text, mtime) => {
      clear(path)
      writeFileSync(at(path), text)
      if (mtime !== undefined) utimesSync(at(path), mtime, mtime)
    },
    link: async (path, text) => {
      clear(path)
      symlinkSync(text, at(path))
    },
    remove: async path => clear(path),
    connect: () => Promise.reject(new Error('the runner has no sockets')),
    pass: delay,
    wasTouched: async path => existsSync(at(path)),
  }
})

afterAll(async () => {
  machine.systemd.close()
  await server.close()
  await runner.end()
  removeTestRoot(root)
})

const noSockets = 'the runner refuses sockets by name'
systemdSuite('the runner, over its socket', () => machine, {
  skip: {
    'finds a unit behind a link, and cannot see that another file of the same age took its place':
      'the runner compares what the files say, so it does see it',
    'says that a service failed that was to tell when it is ready, and died':
      'the runner refuses the types notify and forking by name',
    'counts a start as done when a condition keeps the unit down': 'the runner refuses conditions by name',
    'starts a service when somebody connects to its socket, and keeps the socket while that restarts': noSockets,
    'does not open a socket beside its running service': noSockets,
    'has an instance for each connection to an accepting socket': noSockets,
    'starts a timer without the service that it is for': 'the runner refuses timers by name',
  },
})
