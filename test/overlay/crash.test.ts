// Real processes, killed at random calls while they prepare and apply. Whatever the moment, what is found afterwards is a
// whole generation, the old one or the new one, over a store of whole states. Count and seed are printed; CAIRN_SEED repeats
// a run, CAIRN_CRASHES makes it longer.
import {
  cpSync,
  lutimesSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { litterPrefix, removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { buildOnce, install } from '../machine/bundle.ts'
import { snapshotTree } from '../machine/etc-snapshot.ts'
import { run, runOrThrow } from '../machine/process.ts'
import { describeWith } from '../require.ts'
import { killedAt, type Place, placesOf } from './kill.ts'

const crashes = Number(process.env.CAIRN_CRASHES ?? 48)
/** For a machine that does much else. */
const timeout = 60_000 + crashes * 10_000
const seed = Number(process.env.CAIRN_SEED ?? Math.floor(Math.random() * 1e9))

describeWith(['strace'], `${crashes} random kills (seed ${seed})`, () => {
  let base: string
  let cairn: string
  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'cairn-crash-'))
    install(await buildOnce(), join(base, 'cairn'))
    cairn = join(base, 'cairn/bin/cairn')
    symlinkSync(dirname(process.execPath), join(base, `cairn/node_modules/node-linux-${process.arch}/bin`))
    for (const side of ['old', 'new'] as const)
      writeFileSync(join(base, `${side}.json`), JSON.stringify(configOf(side)))
    await runOrThrow(command('apply', 'old', join(base, 'before')))
    // So that every kill of apply falls into the switch; those of prepare have a test of their own.
    await runOrThrow(command('prepare', 'new', join(base, 'before')))
    await runOrThrow(command('apply', 'new', copy('before', 'after')))
  })
  afterAll(() => removeTree(realFiles, base))

  it('of apply leave the old generation or the new one', { timeout }, async () => {
    const [old, wanted] = [snapshotOf(join(base, 'before')), snapshotOf(join(base, 'after'))]
    const seen = { old: 0, new: 0 }
    const apply = (root: string) => command('apply', 'new', root)

    const places = await crash(apply, 'before', Math.ceil((crashes * 2) / 3), async ({ root, at }) => {
      await mustRun([cairn, 'node', 'recover', '--root', root], at)
      const found = snapshotOf(root)
      const which = JSON.stringify(found) === JSON.stringify(wanted) ? 'new' : 'old'
      expect(found, at).toEqual(which === 'new' ? wanted : old)
      expect(litterIn(root), at).toEqual([])
      seen[which]++

      await mustRun(apply(root), `${at}, applied again`)
      // A number that an undone apply took is not taken again.
      const current = expect.stringMatching(which === 'new' ? /2$/ : /[23]$/)
      expect(snapshotOf(root), `${at}, applied again`).toEqual({ ...wanted, current })
      await mustRun([cairn, 'node', 'verify', '--root', root], at)
    })
    console.log(`${seen.old + seen.new} of apply over ${places} places: ${seen.old} found old, ${seen.new} found new`)
  })

  it('of prepare leave whole states only, the next one goes through, and a later collection clears the rest', {
    timeout,
  }, async () => {
    const prepare = (root: string) => command('prepare', 'new', root)
    await runOrThrow(prepare(join(base, 'prepared')))
    const wanted = storeOf(join(base, 'prepared'))
    const left: number[] = []

    const places = await crash(prepare, null, Math.floor(crashes / 3), async ({ root, at }) => {
      await mustRun([cairn, 'node', 'verify', '--root', root], at)
      left.push(storeOf(root).records.length)
      await mustRun(prepare(root), `${at}, prepared again`)
      expect(storeOf(root), at).toEqual(wanted)
      const { stdout } = await mustRun([cairn, 'node', 'verify', '--root', root, '--json'], at)
      expect(JSON.parse(stdout), at).toMatchObject({ checked: wanted.states.length, damaged: [] })

      await mustRun(command('apply', 'new', root), at)
      for (const path of halfMadeIn(root)) lutimesSync(path, 1, 1)
      await mustRun([cairn, 'node', 'gc', '--root', root], at)
      expect(storeOf(root), `${at}, collected`).toEqual(wanted)
      expect(halfMadeIn(root), `${at}, collected`).toEqual([])
    })
    console.log(
      `${left.length} of prepare over ${places} places: found ${left.join(', ')} of ${wanted.records.length} states`,
    )
  })

  /** Kills the command on a fresh copy each time, and has a look at what is left. Returns how many places there are. */
  async function crash(
    commandFor: (root: string) => readonly string[],
    from: string | null,
    times: number,
    look: (crashed: { root: string; at: string }) => Promise<void>,
  ): Promise<number> {
    const places = await placesOf(commandFor(copy(from, 'watched')))
    expect(places.length).toBeGreaterThan(40)
    const random = generator(seed)
    for (let turn = 1; turn <= times; turn++) {
      const index = Math.floor(random() * places.length)
      const place = places[index] as Place
      const at = `seed ${seed}, kill ${turn}: at ${place.call} ${place.n}, call ${index + 1} of ${places.length}`
      const root = copy(from, 'crashed')
      const killed = await run(killedAt(place, commandFor(root)))
      expect(killed.code, `${at}\n${killed.stdout}${killed.stderr}`).toBe(137)
      await look({ root, at })
    }
    return places.length
  }

  const command = (name: 'apply' | 'prepare', side: 'old' | 'new', root: string) => [
    ...[cairn, 'node', name, '-f', join(base, `${side}.json`), '--root', root],
  ]

  async function mustRun(words: readonly string[], at: string) {
    const finished = await run(words)
    expect(finished.code, `${at}: ${words.slice(1).join(' ')}\n${finished.stdout}${finished.stderr}`).toBe(0)
    return finished
  }

  /** Null copies nothing: a machine that has never seen Cairn. */
  function copy(from: string | null, to: string): string {
    const target = join(base, to)
    removeTree(realFiles, target)
    if (from) cpSync(join(base, from), target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    return target
  }
})

function configOf(side: 'old' | 'new'): OverlayConfig {
  const files = (names: string[]) => names.map(name => ({ source: 'conf', target: `app/${name}` }))
  return {
    version: side,
    packageByNames: {
      kept: { version: side, source: { type: 'inline', content: side, path: 'conf' }, etcFiles: files(['a', 'b/c']) },
      [`only-${side}`]: {
        version: '1',
        source: { type: 'inline', content: side, path: 'conf' },
        etcFiles: files([side]),
      },
      secret: {
        version: '1',
        source: { type: 'inline', content: `secret of ${side}`, path: 'conf' },
        etcFiles: [{ source: 'conf', target: 'app/secret', mode: '0600' }],
      },
    },
    systemdUnitsByName: {
      app: {
        version: '1',
        packages: ['kept'],
        templateInline: `[Service]\nExecStart={{.GetPackagePath "kept" "conf"}}\n[Install]\nWantedBy=multi-user.target\nAlias=${side}-alias.service\n`,
      },
    },
  }
}

/** What a machine sees: /etc with the content behind its links, static and current; and no switch that is still open. */
function snapshotOf(root: string) {
  const store = join(root, 'cairn')
  const withoutTime = (line: string) => line.replace(/^(file \d+ \d+:\d+) \S+/, '$1')
  const etc = Object.entries(snapshotTree(join(root, 'etc'))).map(([path, line]) => [
    path,
    `${withoutTime(line)} ${linkedContent(join(root, 'etc', path))}`,
  ])
  return {
    etc,
    static: readlinkSync(join(store, 'etc/static')),
    current: readlinkSync(join(store, 'current')),
    journal: readdirSync(join(store, 'journal')),
  }
}

const linkedContent = (path: string) => (realFiles.lstat(path)?.isSymbolicLink() ? readFileSync(path, 'utf8') : '')

/** What counts: names without a dot are states, and only those with a record are used. */
function storeOf(root: string): { states: string[]; records: string[] } {
  const names = (directory: string) => (realFiles.lstat(directory) ? readdirSync(directory).sort() : [])
  return {
    states: names(join(root, 'cairn/states')).filter(name => !name.startsWith('.')),
    records: names(join(root, 'cairn/records')).filter(name => name.endsWith('.json') && !name.startsWith('.')),
  }
}

/** Parts of the store in which any process may be at work; only a collection clears them, the last two after a while. */
const sharedRooms = ['states', 'temp-roots', 'records', 'configs']

const halfMadeIn = (root: string): string[] =>
  sharedRooms
    .flatMap(room => ['', '.trash'].map(below => join(root, 'cairn', room, below)))
    .filter(directory => realFiles.lstat(directory))
    .flatMap(directory => readdirSync(directory).map(name => join(directory, name)))
    .filter(path => basename(path).startsWith('.') && basename(path) !== '.trash')

function litterIn(root: string): string[] {
  const all = readdirSync(root, { recursive: true }) as string[]
  const isShared = (path: string) => sharedRooms.some(room => path.startsWith(`cairn/${room}/`))
  return all.filter(path => basename(path).startsWith(litterPrefix) && !isShared(path))
}

/** Mulberry32: small, and the same numbers for the same seed everywhere. */
function generator(state: number): () => number {
  let a = state
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
