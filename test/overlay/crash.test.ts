// Real processes, killed at random calls while they prepare and apply. Whatever the moment, what is found afterwards is a
// whole generation: the old one or the new one. Count and seed are printed; CAIRN_SEED repeats a run, CAIRN_CRASHES makes it longer.
import { cpSync, mkdtempSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { litterPrefix, removeTree } from '../../src/lib/durable.ts'
import { realFiles } from '../../src/lib/files.ts'
import type { OverlayConfig } from '../../src/resources/overlay-config.ts'
import { snapshotTree } from '../machine/etc-snapshot.ts'
import { run, runOrThrow } from '../machine/process.ts'
import { describeWith } from '../require.ts'
import { countCalls, killAt } from './kill.ts'

const cairn = join(import.meta.dirname, '../../bin/cairn')
const crashes = Number(process.env.CAIRN_CRASHES ?? 60)
const seed = Number(process.env.CAIRN_SEED ?? Math.floor(Math.random() * 1e9))

describeWith(['strace'], `${crashes} random kills of prepare and apply (seed ${seed})`, () => {
  let base: string
  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'cairn-crash-'))
    writeFileSync(join(base, 'old.json'), JSON.stringify(configOf('old')))
    writeFileSync(join(base, 'new.json'), JSON.stringify(configOf('new')))
    await runOrThrow([cairn, 'node', 'apply', '-f', join(base, 'old.json'), '--root', join(base, 'before')])
    await runOrThrow([cairn, 'node', 'apply', '-f', join(base, 'new.json'), '--root', copyOf(base, 'before', 'after')])
  })
  afterAll(() => removeTree(realFiles, base))

  it('leaves the old generation or the new one', async () => {
    const commandFor = (root: string) => [cairn, 'node', 'apply', '-f', join(base, 'new.json'), '--root', root]
    const places = await countCalls(commandFor(copyOf(base, 'before', 'counted')))
    expect(places).toBeGreaterThan(40)
    const [old, wanted] = [snapshotOf(join(base, 'before')), snapshotOf(join(base, 'after'))]
    const random = generator(seed)
    const seen = { old: 0, new: 0 }

    for (let crash = 1; crash <= crashes; crash++) {
      const place = 1 + Math.floor(random() * places)
      const at = `seed ${seed}, crash ${crash}: killed at call ${place} of ${places}`
      const root = copyOf(base, 'before', 'crashed')
      const killed = await run([...killAt(place), ...commandFor(root)])
      expect(killed.code, at).toBe(137)

      const recovered = await run([cairn, 'node', 'recover', '--root', root])
      expect(recovered.code, `${at}\n${recovered.stdout}${recovered.stderr}`).toBe(0)
      const found = snapshotOf(root)
      const which = JSON.stringify(found) === JSON.stringify(wanted) ? 'new' : 'old'
      expect(found, at).toEqual(which === 'new' ? wanted : old)
      expect(litterIn(root), at).toEqual([])
      seen[which]++

      const again = await run(commandFor(root))
      expect(again.code, `${at}, applied again\n${again.stdout}${again.stderr}`).toBe(0)
      expect(snapshotOf(root), `${at}, applied again`).toEqual(wanted)
      const verified = await run([cairn, 'node', 'verify', '--root', root])
      expect(verified.code, `${at}\n${verified.stdout}`).toBe(0)
    }
    console.log(`${crashes} kills over ${places} places, seed ${seed}: ${seen.old} found old, ${seen.new} found new`)
  })
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

function copyOf(base: string, from: string, to: string): string {
  const target = join(base, to)
  removeTree(realFiles, target)
  cpSync(join(base, from), target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  return target
}

/** What a machine sees: /etc with the content behind its links, static and current. */
function snapshotOf(root: string): unknown {
  const store = join(root, 'cairn')
  const states = readlinkSync(join(store, 'etc/static'))
  const etc = Object.entries(snapshotTree(join(root, 'etc'))).map(([path, line]) => [
    path,
    line.replace(/ \d+(\.\d+)? /, ' '),
  ])
  return {
    etc,
    static: states,
    current: readlinkSync(join(store, 'current')),
    journal: readdirSync(join(store, 'journal')),
  }
}

function litterIn(root: string): string[] {
  const all = readdirSync(root, { recursive: true }) as string[]
  return all.filter(path => path.split('/').some(part => part.startsWith(litterPrefix)) && !path.includes('temp-roots'))
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
