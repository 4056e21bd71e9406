// Sockets on a real systemd, with real clients: what stays open, what opens anew, who is started by whom.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bootMachine, type Machine } from '../machine/machine.ts'
import { describeWith, machineComponents } from '../require.ts'
import { type Changes, connectTo, names, type Story, storyOn, until } from './on-machine.ts'

/** Greets each client with its version, answers its first line, and on SIGTERM sees to those it has greeted before it ends. */
const echo = `#!/opt/node/bin/node
const [version] = process.argv.slice(2)
const server = require('node:net').createServer({ allowHalfOpen: true }, client => {
  client.write(version + ' ')
  client.once('data', line => client.end(version + ' ' + line))
  client.on('error', () => {})
})
server.listen({ fd: 3 })
process.on('SIGTERM', () => server.close())
`

const echoService = (version: string, ...lines: string[]) => ({
  version: '1',
  packages: ['echo'],
  templateInline: `[Service]
ExecStart={{.GetPackagePath "echo" "bin" "echo"}} ${version}
${lines.join('\n')}
`,
})

const socketAt = (path: string, ...lines: string[]) =>
  `[Socket]\nListenStream=${path}\n${lines.join('\n')}\n[Install]\nWantedBy=sockets.target\n`

/** One process for each connection. */
const talk = (version: string) =>
  `[Service]\nExecStart=/bin/sh -c "echo ${version}; exec cat"\nStandardInput=socket\nStandardOutput=socket\n`

describeWith(machineComponents, 'sockets on a real systemd', () => {
  let machine: Machine
  let story: Story

  beforeAll(async () => {
    machine = await bootMachine({ name: 'sockets' })
    story = storyOn(machine)
  })
  afterAll(() => machine?.destroy())

  const connect = (path: string) => connectTo(machine, path)
  const ask = async (path: string) => text((await connect(path)).end('hello'))
  const isOpen = (path: string) =>
    connect(path).then(
      client => client.destroy() !== undefined,
      () => false,
    )
  async function openAmong(paths: readonly string[]): Promise<string[]> {
    const open: string[] = []
    for (const path of paths) if (await isOpen(path)) open.push(path)
    return open
  }
  const running = async (services: string) =>
    (
      await machine.exec(['systemctl', 'list-units', '--plain', '--no-legend', '--state=active', `${services}.service`])
    ).stdout
      .split('\n')
      .filter(Boolean)
      .map(line => line.split(' ')[0]!)

  describe('that hand over to one service', () => {
    it('listens when it is new, and the service waits for the first client', async () => {
      const { code, units } = await story.apply({
        packages: { echo: { version: '1', source: { type: 'inline', content: echo } } },
        units: {
          'echo.socket': socketAt('/run/echo'),
          'echo.service': echoService('v1', 'X-StopIfChanged=false'),
        },
      })
      expect(code).toBe(0)
      expect(names(units.start)).toEqual(['echo.socket'])
      expect(units.skip).toEqual([{ name: 'echo.service', reason: 'new; echo.socket starts it on demand' }])
      expect(await story.stateOf('echo.service')).toBe('inactive')

      expect(await ask('/run/echo')).toBe('v1 v1 hello')
      expect(await story.stateOf('echo.service')).toBe('active')
    })

    it('stays open over an upgrade of its service: who is connected is served by the old, who comes meanwhile by the new', async () => {
      const opened = await story.show('echo.socket', 'InvocationID')
      expect(opened).toMatch(/^[0-9a-f]{32}$/)
      const early = await connect('/run/echo')
      await once(early, 'readable')
      const applied = story.apply({
        units: { 'echo.service': echoService('v2', 'ExecStartPre=/bin/sleep 1', 'X-StopIfChanged=false') },
      })
      const isLeaving = async () => (await story.stateOf('echo.service')) === 'deactivating'
      await until('the old service is on its way out', isLeaving)
      const late = ask('/run/echo')
      expect(await text(early.end('early'))).toBe('v1 v1 early')
      expect(await late).toBe('v2 v2 hello')
      expect((await applied).units.restart).toEqual([{ name: 'echo.service', reason: expect.any(String) }])
      expect(await story.show('echo.socket', 'InvocationID')).toBe(opened)
    })

    it('opens anew where it is told to listen elsewhere, and its service waits for a client again', async () => {
      const { units } = await story.apply({ units: { 'echo.socket': socketAt('/run/echo-moved') } })
      expect(units).toMatchObject({ restart: [{ name: 'echo.socket' }], stop: [{ name: 'echo.service' }] })
      expect(await story.stateOf('echo.service')).toBe('inactive')
      expect(await isOpen('/run/echo')).toBe(false)
      expect(await ask('/run/echo-moved')).toBe('v2 v2 hello')
    })

    it('is closed and its service stopped when both are gone, however hard clients knock', async () => {
      let over = false
      const knocking = (async () => {
        while (!over) await isOpen('/run/echo-moved')
      })()
      const { units } = await story.apply({ units: { 'echo.socket': null, 'echo.service': null } })
      over = true
      await knocking
      expect(names(units.stop)).toEqual(['echo.service', 'echo.socket'])
      expect(await story.stateOf('echo.service')).toBe('inactive')
      expect(await story.show('echo.service', 'LoadState')).toBe('not-found')
      expect(await isOpen('/run/echo-moved')).toBe(false)
    })
  })

  describe('that start a service for each connection', () => {
    let client: Socket

    it('has an instance for each client, and none before the first', async () => {
      const { units } = await story.apply({
        units: { 'talk.socket': socketAt('/run/talk', 'Accept=yes'), 'talk@.service': talk('v1') },
      })
      expect(names(units.start)).toEqual(['talk.socket'])
      expect(await running('talk@*')).toEqual([])
      client = await connect('/run/talk')
      expect(String(await once(client, 'data'))).toBe('v1\n')
      expect(await running('talk@*')).toHaveLength(1)
    })

    it('stays open when the template changes: instances are only stopped, and the next client gets the new one', async () => {
      const opened = await story.show('talk.socket', 'InvocationID')
      const closed = once(client, 'close')
      const instances = await running('talk@*')
      const { units } = await story.apply({ units: { 'talk@.service': talk('v2') } })
      expect({ stop: names(units.stop), restart: names(units.restart), start: names(units.start) }).toEqual({
        stop: instances,
        restart: [],
        start: [],
      })
      await closed
      expect(await running('talk@*')).toEqual([])
      expect(await story.show('talk.socket', 'InvocationID')).toBe(opened)
      client = await connect('/run/talk')
      expect(String(await once(client, 'data'))).toBe('v2\n')
    })

    it('is closed and its instances stopped when it is gone', async () => {
      const closed = once(client, 'close')
      await story.apply({ units: { 'talk.socket': null, 'talk@.service': null } })
      await closed
      expect(await running('talk@*')).toEqual([])
      expect(await isOpen('/run/talk')).toBe(false)
    })
  })

  it('listens on every socket that is wanted and on no other, with no service up, whatever was kept, changed, removed or new', async () => {
    const old = pairs.filter(({ fate }) => fate !== 'new')
    const used = old.filter(({ isUsed }) => isUsed)
    await story.apply({ units: together(old.map(pair => unitsOf(pair, 'old'))) })
    expect(await openAmong(used.map(oldPath))).toHaveLength(used.length)
    await until('all services in use are up', async () => (await running('matrix-*')).length === used.length)

    const { code, failed } = await story.apply({ units: together(pairs.map(pair => unitsOf(pair, 'new'))) })
    expect({ code, failed, running: await running('matrix-*') }).toEqual({ code: 0, failed: [], running: [] })

    const wanted = pairs.filter(({ fate }) => fate !== 'removed').map(newPath)
    expect(await openAmong([...new Set(pairs.flatMap(pair => [oldPath(pair), newPath(pair)]))])).toEqual(wanted)
    await until('each client has its service', async () => (await running('matrix-*')).length === wanted.length)
    for (const service of await running('matrix-*')) expect(await story.show(service, 'Environment')).toBe('V=new')
  })
})

interface Pair {
  readonly fate: 'kept' | 'changed' | 'removed' | 'new'
  readonly isUsed: boolean
  readonly accept: 'yes' | 'no'
}

const pairs: readonly Pair[] = (['kept', 'changed', 'removed', 'new'] as const)
  .flatMap(fate => [false, true].flatMap(isUsed => (['yes', 'no'] as const).map(accept => ({ fate, isUsed, accept }))))
  .filter(({ fate, isUsed }) => !(fate === 'new' && isUsed))

const nameOf = ({ fate, isUsed, accept }: Pair) => `matrix-${fate}-${isUsed ? 'used' : 'idle'}-accept-${accept}`
const oldPath = (pair: Pair) => `/run/${nameOf(pair)}`
const newPath = (pair: Pair) => (pair.fate === 'changed' ? `${oldPath(pair)}-moved` : oldPath(pair))

function unitsOf(pair: Pair, version: 'old' | 'new'): Changes['units'] {
  const { fate, accept } = pair
  const socket = socketAt(version === 'old' ? oldPath(pair) : newPath(pair), `Accept=${accept}`)
  const service = `[Service]\nExecStart=/bin/sleep infinity\nEnvironment=V=${version}\n`
  const isGone = fate === 'removed' && version === 'new'
  return {
    [`${nameOf(pair)}.socket`]: isGone ? null : socket,
    [`${nameOf(pair)}${accept === 'yes' ? '@' : ''}.service`]: isGone ? null : service,
  }
}

const together = (units: readonly Changes['units'][]): NonNullable<Changes['units']> => Object.assign({}, ...units)
