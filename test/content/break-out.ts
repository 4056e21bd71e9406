// Tries what a walled-in process must not be able to do, and prints as JSON how each try ended: an error code, or `done`.
// Run with the flags and in the namespaces of a real one. Its last argument says where to try; see Target.
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { lookup, resolve4 } from 'node:dns/promises'
import type { EventEmitter } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'

export interface Target {
  /** Somebody listens there. */
  readonly port: number
  readonly socket: string
  readonly write: readonly string[]
  readonly read: readonly string[]
  /** Names of tries; without them all are made. */
  readonly only?: readonly string[]
}

const { port, socket, write, read, only } = JSON.parse(process.argv.at(-1)!) as Target
const host = '127.0.0.1'

const tries: Record<string, () => unknown> = {
  'connect by TCP': () => happens(connect({ host, port }), 'connect'),
  'connect to a socket': () => happens(connect({ path: socket }), 'connect'),
  'listen on TCP': () => happens(createServer().listen({ host, port: 0 }), 'listening'),
  'send by UDP': () =>
    new Promise((done, reject) => {
      const udp = createSocket('udp4').on('error', reject)
      udp.send('x', port, host, error => (error ? reject(error) : done('sent')))
    }),
  'look a name up': () => lookup('cairn.invalid'),
  'ask a name server': () => resolve4('cairn.invalid'),
  'start a program': () => happens(spawn('/bin/true'), 'exit'),
  'start a thread': () => happens(new Worker('', { eval: true }), 'exit'),
  ...Object.fromEntries(write.map(path => [`write ${path}`, () => writeFileSync(path, 'x')])),
  ...Object.fromEntries(read.map(path => [`read ${path}`, () => readFileSync(path)])),
}

const outcomes: Record<string, string> = {}
for (const [name, act] of Object.entries(tries)) {
  if (only && !only.includes(name)) continue
  try {
    await act()
    outcomes[name] = 'done'
  } catch (error) {
    outcomes[name] = (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
process.stdout.write(JSON.stringify(outcomes))
process.exit(0)

/** Node throws where nobody can catch it when it may not listen. */
function happens(source: EventEmitter, event: string) {
  return new Promise((done, reject) => {
    process.once('uncaughtException', reject)
    source.once(event, done).once('error', reject)
  }).finally(() => process.removeAllListeners('uncaughtException'))
}
