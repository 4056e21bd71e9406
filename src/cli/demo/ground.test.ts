import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { takeGround } from './ground.ts'
import type { DemoMachine } from './homelab.ts'
import { readHomelab } from './homelab.ts'
import { refuseBusyPorts } from './ports.ts'

describe('the ground of the demo', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cairn-ground-'))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  it('is made with its parents and removed with them', async () => {
    const ground = await takeGround(join(base, '.cairn/demo'))
    mkdirSync(join(ground.directory, 'atlas'))
    ground.remove()
    expect(readdirSync(base)).toEqual([])
  })

  it('leaves a parent in which something else has come to be', async () => {
    const ground = await takeGround(join(base, '.cairn/demo'))
    writeFileSync(join(base, '.cairn/mine'), '')
    ground.remove()
    expect(readdirSync(join(base, '.cairn'))).toEqual(['mine'])
  })

  it('is not taken from somebody else', async () => {
    writeFileSync(join(base, 'mine'), '')
    await expect(takeGround(base)).rejects.toMatchObject({ code: 'demo.directory-occupied' })
    expect(readdirSync(base)).toEqual(['mine'])
  })

  it('is not taken from a demo that is running', async () => {
    const ground = await takeGround(join(base, 'demo'))
    await expect(takeGround(join(base, 'demo'))).rejects.toMatchObject({ code: 'lock.busy' })
    ground.remove()
  })

  it('is cleared of what a demo has left that was killed', async () => {
    mkdirSync(join(base, 'atlas/etc'), { recursive: true })
    writeFileSync(join(base, 'lock'), '')
    const ground = await takeGround(base)
    expect(existsSync(join(base, 'atlas'))).toBe(false)
    ground.remove()
  })
})

describe('ports', () => {
  let server: Server
  let port: number
  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1')
    await new Promise(up => server.once('listening', up))
    port = (server.address() as { port: number }).port
  })
  afterEach(() => server.close())

  const wanting = (...urls: string[]) =>
    [{ name: 'atlas', file: 'atlas.json', urls: urls.map(url => new URL(url)) }] as unknown as DemoMachine[]

  it('that are taken are named before anything is done', async () => {
    const refusal = refuseBusyPorts(wanting(`http://127.0.0.1:${port}/health`))
    await expect(refusal).rejects.toMatchObject({
      code: 'demo.port-busy',
      problems: [{ code: 'demo.port-busy', reason: `127.0.0.1:${port} is in use, and atlas needs it` }],
    })
  })

  it('that are free are no matter', async () => {
    await new Promise(done => server.close(done))
    await refuseBusyPorts(wanting(`http://127.0.0.1:${port}/health`))
  })
})

describe('the homelab', () => {
  it('has three machines, each with a port of its own', () => {
    const { machines } = readHomelab()
    expect(machines.map(({ name }) => name)).toEqual(['atlas', 'borea', 'cleo'])
    expect(machines.map(({ urls }) => urls[0]?.port)).toEqual(['18081', '18082', '18083'])
    expect(machines[0]?.file).toBe('examples/homelab/overlays/atlas.json')
  })
})
