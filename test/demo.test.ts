// The demo as a person has it: the shipped bundle, an ordinary user, real processes on ports of this computer.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildOnce, install } from './machine/bundle.ts'
import { type Finished, run } from './machine/process.ts'

const project = join(import.meta.dirname, '..')
const nobody = 65534
const isRoot = process.getuid?.() === 0
/** Root would hide what an ordinary user may not do. */
const asOrdinaryUser = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--'] : []

let home: string
let work: string
let ports: number[]
let started: ChildProcess[] = []

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'cairn-demo-'))
  chmodSync(home, 0o755)
  install(await buildOnce(), home)
  const node = join(home, `node_modules/node-linux-${process.arch}/bin`)
  mkdirSync(node)
  copyFileSync(process.execPath, join(node, 'node'))
})

beforeEach(async () => {
  ports = await freePorts(3)
  cpSync(join(project, 'examples'), join(home, 'examples'), { recursive: true })
  for (const [index, name] of ['atlas', 'borea', 'cleo'].entries())
    edit(name, text => text.replaceAll(String(18081 + index), String(ports[index])))
  work = join(home, 'work')
  mkdirSync(work)
  if (isRoot) chownSync(work, nobody, nobody)
})

afterEach(async () => {
  for (const child of started.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGTERM')
    await new Promise(ended => child.once('exit', ended))
  }
  started = []
  const left = processesIn(work)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  rmSync(work, { recursive: true, force: true })
  rmSync(join(home, 'examples'), { recursive: true, force: true })
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('the demo', () => {
  it('stays until it is told to end, with machines on which another terminal can act, and leaves nothing', async () => {
    const demo = await startDemo()
    expect(demo.output()).toContain('All 3 machines are as declared')
    expect(await greetings()).toEqual(['Hello from atlas', 'Hello from borea', 'Hello from cleo'])

    edit('atlas', text => text.replace('Hello from atlas', 'Good morning'))
    const pid = webProcess()
    expect(await apply('atlas')).toMatchObject({ code: 0, stdout: expect.stringMatching(/reloaded +web\.service/) })
    expect(await greetings()).toEqual(['Good morning', 'Hello from borea', 'Hello from cleo'])
    expect(webProcess()).toBe(pid)

    edit('atlas', text => text.replace('Good morning', ''))
    expect(await apply('atlas')).toMatchObject({ code: 1, stdout: expect.stringMatching(/web +HTTP 500/) })
    expect((await greetings())[0]).toBe('Good morning')

    expect(await cairn('node', 'rollback', '--root', '.cairn/demo/atlas')).toMatchObject({ code: 0 })
    expect((await greetings())[0]).toBe('Hello from atlas')
    const status = await cairn('node', 'status', '--root', '.cairn/demo/atlas', '--exit-code')
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('3 of 3 units active') })

    expect(await demo.end('SIGTERM')).toBe(0)
    expect(await greetings()).toEqual([null, null, null])
    expect(nothingIsLeft()).toBe(true)
  })

  it('ends by itself when it is asked to, and tells programs the same', async () => {
    const { code, stdout } = await cairn('demo', '--once', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      healthy: true,
      machines: [
        { name: 'atlas', generation: 1, healthy: true },
        { name: 'borea', generation: 1, healthy: true },
        { name: 'cleo', generation: 1, healthy: true },
      ],
    })
    expect(nothingIsLeft()).toBe(true)
  })

  it('says which port is taken, and does nothing', async () => {
    const server = await listen(ports[1]!)
    const { code, stderr } = await cairn('demo', '--once')
    server.close()
    expect(code).toBe(4)
    expect(stderr).toContain(`127.0.0.1:${ports[1]} is in use, and borea needs it`)
    expect(nothingIsLeft()).toBe(true)
  })

  it('says what is not healthy, and ends with 6', async () => {
    edit('cleo', text => text.replace('Hello from cleo', ''))
    const { code, stdout } = await cairn('demo')
    expect(code).toBe(6)
    expect(stdout).toMatch(/✗ +cleo +web +HTTP 500/)
    expect(stdout).toContain('1 of 3 machines not healthy')
    expect(nothingIsLeft()).toBe(true)
  })

  it('says where a config is wrong, and does nothing', async () => {
    edit('borea', text => text.replace('"templateInline"', '"templateInlin"'))
    const { code, stderr } = await cairn('demo', '--once')
    expect(code).toBe(3)
    expect(stderr).toMatch(/examples\/homelab\/overlays\/borea\.json:\d+:\d+/)
    expect(nothingIsLeft()).toBe(true)
  })

  it('refuses to be there twice, and clears away what a killed one has left', async () => {
    const demo = await startDemo()
    expect(await cairn('demo', '--once')).toMatchObject({ code: 4, stderr: expect.stringContaining('cairn demo') })
    await demo.end('SIGKILL')
    expect(processesIn(work).length).toBeGreaterThan(0)
    expect(await cairn('demo', '--once')).toMatchObject({ code: 0 })
    expect(nothingIsLeft()).toBe(true)
  })
})

const command = (args: readonly string[]) => [...asOrdinaryUser, join(home, 'bin/cairn'), ...args]
const environment = () => ({ PATH: '/usr/bin:/bin', HOME: work })

const cairn = (...args: string[]): Promise<Finished> => run(command(args), { cwd: work, env: environment() })
const apply = (name: string) =>
  cairn('node', 'apply', '-f', join(home, `examples/homelab/overlays/${name}.json`), '--root', `.cairn/demo/${name}`)

async function startDemo() {
  const [program = '', ...args] = command(['demo'])
  const child = spawn(program, args, { cwd: work, env: environment(), stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(child)
  let output = ''
  child.stdout.on('data', chunk => (output += chunk))
  const ended = new Promise<number | null>(done => child.once('exit', done))
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C ends the units')
  return {
    output: () => output,
    end: (signal: NodeJS.Signals) => {
      child.kill(signal)
      return ended
    },
  }
}

function edit(name: string, change: (text: string) => string) {
  const path = join(home, `examples/homelab/overlays/${name}.json`)
  const before = readFileSync(path, 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`nothing to change in ${name}.json`)
  writeFileSync(path, after)
}

/** What each web service says; null where nobody answers. */
const greetings = () =>
  Promise.all(
    ports.map(port =>
      fetch(`http://127.0.0.1:${port}/`).then(
        async answer => (await answer.text()).trim(),
        () => null,
      ),
    ),
  )

const webProcess = () => processesIn(join(work, '.cairn/demo/atlas')).find(pid => /bin\/web/.test(commandLine(pid)))

const nothingIsLeft = () => !existsSync(join(work, '.cairn/demo')) && processesIn(work).length === 0

/** Those that were started with a path below the directory. */
function processesIn(directory: string): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => commandLine(pid).includes(directory))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)))
  const found = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(done => server.close(done))))
  return found
}

function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  return new Promise(up => server.once('listening', () => up(server)))
}
