// Kills a process in the middle of a download and counts at the server what is fetched a second time.
import { spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { sha256Hex } from '../../src/lib/json.ts'
import { printSize } from '../../src/lib/size.ts'
import { randomLayer } from '../../test/content/image.ts'
import { randomFrom } from '../lib/random.ts'
import type { SeriesResult } from '../lib/rounds.ts'
import type { Machine } from './cairn.ts'
import { seriesOf } from './names.ts'

export interface Resume extends SeriesResult {
  /** Of all kills. */
  readonly mostTwice: number
}

const victims = ['downloader', 'supervisor'] as const

export async function measureResume(
  machine: Machine,
  { bytes, kills }: { bytes: number; kills: number },
): Promise<Resume> {
  const [{ body } = { body: Buffer.alloc(0) }] = randomLayer({ seed: 78, bytes })
  const server = await countingServer(body)
  const random = randomFrom(3)
  const remarks: string[] = []
  let mostTwice = 0
  try {
    for (const victim of victims) {
      const twice: number[] = []
      for (let kill = 0; kill < kills; kill++) {
        machine.begin()
        machine.startDaemon()
        server.begin()
        const pull = () => machine.command('', 'content', 'pull', server.url, '--digest', `sha256:${sha256Hex(body)}`)
        const first = ended(pull())
        const at = bytes * (0.1 + 0.8 * random())
        while (server.sent() < at) await setTimeout(5)
        if (victim === 'supervisor') machine.stopDaemon('SIGKILL')
        else process.kill(machine.processes().downloader ?? 0, 'SIGKILL')
        // The command that asked takes over from a supervisor that is gone.
        if ((await first) !== 0) throw new Error(`the pull failed after the ${victim} was killed`)
        twice.push(server.sent() - bytes)
        machine.stopDaemon()
      }
      mostTwice = Math.max(mostTwice, ...twice)
      remarks.push(
        `${kills} times \`kill -9\` of the ${victim} at random points of ${printSize(bytes)}: fetched twice ${twice.map(printSize).join(', ')}.`,
      )
    }
    return { series: seriesOf.resume, files: 0, steps: [], remarks, mostTwice }
  } finally {
    server.close()
    machine.stopDaemon()
  }
}

function ended({ program, args }: { program: string; args: readonly string[] }): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', reject)
    child.on('exit', resolve)
  })
}

/** Slower than any reader, so that what was sent was also received. */
async function countingServer(body: Buffer) {
  const piece = 256 * 1024
  let sent = 0
  const send = async (response: ServerResponse, from: number) => {
    for (let at = from; at < body.length && !response.destroyed; at += piece) {
      const bytes = body.subarray(at, at + piece)
      await new Promise(resolve => response.write(bytes, resolve))
      if (!response.destroyed) sent += bytes.length
      await setTimeout(2)
    }
    response.end()
  }
  const server = createServer((request, response) => {
    const [, first] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? []
    const from = Number(first ?? 0)
    const headers = { 'content-length': body.length - from, etag: '"one"' }
    response.on('error', () => {})
    if (first === undefined) response.writeHead(200, headers)
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` })
    void send(response, from)
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/blob`,
    begin: () => {
      sent = 0
    },
    sent: () => sent,
    close: () => server.close().closeAllConnections(),
  }
}
