// One test machine: a Debian with a real systemd, booted by systemd-nspawn on an overlay of the shared root file system.
// It shares the computer's network, so that a server of the test on 127.0.0.1 is reached from inside.
// Its disk lives in memory and outlives reboots and power cuts, until destroy(). Nothing of it stays behind: see home.ts.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Bind, buildOnce, install } from './bundle.ts'
import { type EtcSnapshot, snapshotTree } from './etc-snapshot.ts'
import { killAll, makeHome, removeHome } from './home.ts'
import { type Finished, type RunOptions, run, runOrThrow } from './process.ts'
import { rootfs } from './rootfs.ts'

export interface MachineOptions {
  /** Becomes its hostname. */
  readonly name: string
  /** Read-only: a path of this computer, and where the machine sees it. */
  readonly binds?: readonly Bind[]
  /** The built bundle at /opt/cairn; on unless said otherwise. */
  readonly cairn?: boolean
  /** A network of its own: one made with `ip netns add`. */
  readonly networkNamespace?: string
}

export interface Machine {
  readonly name: string
  /** Its systemd, as a process of this computer: /proc/<leader>/root is the machine's file system. Throws while it is off. */
  leader(): number
  /** Runs a program inside, as root with a plain environment; `env` adds to it. */
  exec(command: readonly string[], options?: RunOptions): Promise<Finished>
  /** Also while it is off. Makes missing parents; follows links as the machine would. */
  writeFile(path: string, content: string | Uint8Array, mode?: number): Promise<void>
  readFile(path: string): Promise<string>
  snapshotEtc(): EtcSnapshot
  /** After powerOff or powerCut. */
  start(): Promise<void>
  reboot(): Promise<void>
  powerOff(): Promise<void>
  /** Everything in it is gone at once; nothing had a chance to say goodbye. */
  powerCut(): Promise<void>
  destroy(): Promise<void>
}

export async function bootMachine(options: MachineOptions): Promise<Machine> {
  const { name, cairn = true } = options
  const [lower, bundle] = await Promise.all([rootfs(), cairn ? buildOnce() : null])
  const home = makeHome(name, lower)
  const binds = [{ from: dirname(dirname(process.execPath)), to: '/opt/node' }, ...(options.binds ?? [])]
  const network = options.networkNamespace ? [`--network-namespace-path=/run/netns/${options.networkNamespace}`] : []
  const consoleLog = join(home.directory, 'console.log')

  let running: { ended: Promise<number>; leader: number } | null = null

  const machine: Machine = {
    name,
    leader: () => on().leader,
    exec: (command, { env = {}, ...rest } = {}) =>
      run([...inside(), ...command], { ...rest, env: { ...plainEnvironment, ...env } }),
    async writeFile(path, content, mode) {
      const write = 'mkdir -p "$(dirname "$1")" && cat > "$1"'
      const script = mode === undefined ? write : `${write} && chmod ${mode.toString(8)} "$1"`
      await runOrThrow([...inside(), '/bin/sh', '-c', script, 'sh', path], { input: content, env: plainEnvironment })
    },
    readFile: async path => (await runOrThrow([...inside(), '/bin/cat', '--', path], { env: plainEnvironment })).stdout,
    snapshotEtc: () => snapshotTree(join(home.disk, 'etc')),
    start,
    reboot: async () => {
      await shutDown('reboot', 133)
      await start()
    },
    powerOff: () => shutDown('poweroff', 0),
    powerCut: async () => {
      const { ended, leader } = on()
      // The first of its processes takes all the others along; one by one, some would see the others die and speak of it.
      process.kill(leader, 'SIGKILL')
      killAll(home)
      await ended
      running = null
    },
    destroy: async () => {
      killAll(home)
      await running?.ended
      running = null
      removeHome(home)
    },
  }

  try {
    writeFileSync(join(home.disk, 'etc/hostname'), `${name}\n`)
    writeFileSync(join(home.disk, 'etc/machine-id'), `${randomUUID().replaceAll('-', '')}\n`)
    if (bundle) binds.push(...install(bundle, join(home.directory, 'cairn')))
    await start()
    return machine
  } catch (error) {
    await machine.destroy()
    throw error
  }

  function on() {
    if (!running) throw new Error(`${name} is off`)
    return running
  }

  function inside(): string[] {
    return running ? ['nsenter', '-t', String(running.leader), '-a'] : ['chroot', home.disk]
  }

  async function start() {
    if (running) throw new Error(`${name} is on already`)
    const log = openSync(consoleLog, 'w')
    // In cgroups of its own: two machines in one would share their units' groups, and by them all of it is found again.
    const enter = home.cgroups.map(group => `echo $$ > '${group}/cgroup.procs' && `).join('')
    const nspawn = spawn('/bin/sh', ['-c', `${enter}exec systemd-nspawn "$@"`, 'sh', ...nspawnArguments()], {
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    const ended = new Promise<number>(resolve => nspawn.on('close', code => resolve(code ?? 255)))
    for (const deadline = Date.now() + 120_000; ; await delay(30)) {
      const leader = childOf(nspawn.pid ?? 0)
      if (leader && (await hasBooted(leader))) {
        running = { ended, leader }
        return
      }
      if (nspawn.exitCode !== null || Date.now() > deadline) {
        killAll(home)
        await ended
        throw new Error(`${name} did not boot:\n${readFileSync(consoleLog, 'utf8')}`)
      }
    }
  }

  function nspawnArguments(): string[] {
    return [
      '--quiet',
      `--directory=${home.disk}`,
      `--machine=${home.id}`,
      `--hostname=${name}`,
      '--register=no',
      '--keep-unit',
      '--settings=no',
      // What nspawn would write into the machine's /etc and /var by itself.
      '--resolv-conf=off',
      '--timezone=off',
      '--link-journal=no',
      '--console=pipe',
      ...network,
      ...binds.map(({ from, to }) => `--bind-ro=${from}:${to}`),
      '--boot',
    ]
  }

  async function shutDown(verb: 'reboot' | 'poweroff', expected: number) {
    const { ended } = on()
    await machine.exec(['/usr/bin/systemctl', verb])
    const code = await Promise.race([ended, delay(90_000, 'too long' as const, { ref: false })])
    if (code !== expected) throw new Error(`${name}: ${verb} ended with ${code}:\n${readFileSync(consoleLog, 'utf8')}`)
    running = null
  }
}

const plainEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
}

async function hasBooted(leader: number): Promise<boolean> {
  const { stdout } = await run(['nsenter', '-t', String(leader), '-a', '/usr/bin/systemctl', 'is-system-running'])
  return ['running', 'degraded'].includes(stdout.trim())
}

/** The leader is the only child of nspawn; 0 before it is there. */
function childOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
  } catch {
    return 0
  }
}
