// The commands as a whole, on a machine below a temporary directory: what they print, give to programs, and exit with.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeTree } from '../../lib/durable.ts'
import { realFiles } from '../../lib/files.ts'
import { fakeTerminal } from '../../lib/terminal.fake.ts'
import { runCairn } from '../run.ts'
import { catalogue } from './all.ts'

let machine: string
beforeEach(() => {
  machine = mkdtempSync(join(tmpdir(), 'cairn-cli-'))
})
afterEach(() => removeTree(realFiles, machine))

const aConfig = (version: string, greeting = 'hello') =>
  JSON.stringify({
    version,
    packageByNames: {
      motd: {
        version: '1',
        source: { type: 'inline', content: greeting, path: 'motd' },
        etcFiles: [{ source: 'motd', target: 'motd.d/cairn' }],
      },
    },
    systemdUnitsByName: {
      web: { version: '1', templateInline: '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' },
    },
  })

/** The config comes from standard input where there is one. */
async function node(line: string, given: { config?: string; answer?: string } = {}) {
  const { config, answer } = given
  const terminal = fakeTerminal({ ...(config && { input: config }), ...(answer !== undefined && { answer }) })
  const argv = ['node', ...line.split(' '), ...(config ? ['-f', '-'] : []), '--root', machine]
  const exit = await runCairn(argv, terminal, catalogue)
  return { exit, ...terminal.printed }
}

const inEtc = (target: string) => join(machine, 'etc', target)

describe('plan', () => {
  it('exits 2 while there is something to do, and 0 when it is done', async () => {
    const config = aConfig('v1')
    expect(await node('plan --exit-code', { config })).toMatchObject({ exit: 2 })
    expect(await node('apply', { config })).toMatchObject({ exit: 0 })
    expect(await node('plan --exit-code', { config })).toMatchObject({
      exit: 0,
      out: 'No changes. This machine is as overlay v1 says.\n',
    })
  })

  it('changes nothing below /etc', async () => {
    await node('plan', { config: aConfig('v1') })
    expect(existsSync(inEtc('motd.d'))).toBe(false)
  })

  it('gives programs targets and units with reasons', async () => {
    const { out } = await node('plan --json', { config: aConfig('v1') })
    const plan = JSON.parse(out)
    expect(plan.etc.add).toContainEqual(expect.objectContaining({ target: 'motd.d/cairn', reason: expect.any(String) }))
    expect(plan.etc).toMatchObject({ change: [], remove: [], conflict: [] })
    expect(Object.keys(plan.units)).toEqual(['start', 'stop', 'restart', 'reload', 'skip'])
    for (const unit of Object.values(plan.units).flat())
      expect(unit).toEqual({ name: expect.any(String), reason: expect.any(String) })
  })

  it('exits 4 when something is in the way, as apply does; neither touches it', async () => {
    mkdirSync(inEtc('motd.d'), { recursive: true })
    writeFileSync(inEtc('motd.d/cairn'), 'mine')
    const config = aConfig('v1')
    const plan = await node('plan --exit-code --json', { config })
    expect(plan.exit).toBe(4)
    expect(JSON.parse(plan.out).etc.conflict).toMatchObject([{ target: 'motd.d/cairn' }])
    const apply = await node('apply --json', { config })
    expect(apply.exit).toBe(4)
    expect(JSON.parse(apply.out).error.problems).toMatchObject([{ code: 'etc.conflict' }])
    expect(readFileSync(inEtc('motd.d/cairn'), 'utf8')).toBe('mine')
  })
})

describe('apply', () => {
  it('makes a generation once; the second time there is nothing to do', async () => {
    const config = aConfig('v1')
    const first = JSON.parse((await node('apply --json', { config })).out)
    expect(first).toMatchObject({ generation: 1, changed: true, failed: [] })
    expect(first.units).toBeTypeOf('object')
    expect(readFileSync(inEtc('motd.d/cairn'), 'utf8')).toBe('hello')
    expect(await node('apply', { config })).toMatchObject({
      exit: 0,
      out: 'No changes. Generation 1 is as declared.\n',
    })
  })

  it('prints every fault of a config with its place, and exits 3', async () => {
    const { exit, out, err } = await node('apply', { config: '{"version": 3,\n"packageByName": {}}' })
    expect({ exit, out }).toEqual({ exit: 3, out: '' })
    expect(err).toMatch(
      /^<stdin>:1:\d+ .*\n<stdin>:2:\d+ .*"packageByNames"\?\n2 problems in 1 file\. Nothing was changed\.\n$/,
    )
  })

  it('with --quiet says nothing when all went well', async () => {
    expect(await node('apply --quiet', { config: aConfig('v1') })).toEqual({ exit: 0, out: '', err: '' })
  })

  it('with --confirm-within waits for confirm', async () => {
    await node('apply', { config: aConfig('v1') })
    const { out } = await node('apply --confirm-within 1h', { config: aConfig('v2', 'changed') })
    const [, id = ''] = /cairn node confirm (\w+) --root/.exec(out) ?? []
    expect((await node('status')).out).toContain(`cairn node confirm ${id}`)
    expect(await node(`confirm ${id}`)).toMatchObject({ exit: 0 })
    expect(await node('confirm')).toMatchObject({ exit: 4 })
  })
})

describe('the way back', () => {
  it('leads to the generation before, and forth again', async () => {
    await node('apply', { config: aConfig('v1') })
    await node('apply', { config: aConfig('v2', 'changed') })
    expect(await node('rollback')).toMatchObject({ exit: 0, out: expect.stringContaining('Back at generation 1') })
    expect(readFileSync(inEtc('motd.d/cairn'), 'utf8')).toBe('hello')
    const { generations } = JSON.parse((await node('generations --json')).out)
    expect(generations).toMatchObject([
      { generation: 2, current: false },
      { generation: 1, current: true },
    ])
    expect(await node('rollback --to 2')).toMatchObject({ exit: 0 })
    expect(await node('rollback --to 9')).toMatchObject({ exit: 4 })
  })

  it('ends in uninstall, which asks for a word', async () => {
    await node('apply', { config: aConfig('v1') })
    expect(await node('uninstall')).toMatchObject({ exit: 4 })
    expect(await node('uninstall', { answer: 'yes' })).toMatchObject({ exit: 4 })
    expect(existsSync(inEtc('motd.d/cairn'))).toBe(true)
    expect(await node('uninstall', { answer: 'uninstall' })).toMatchObject({ exit: 0 })
    expect(existsSync(inEtc('motd.d'))).toBe(false)
    expect(await node('uninstall --purge', { answer: 'purge' })).toMatchObject({ exit: 0 })
    expect(existsSync(join(machine, 'cairn'))).toBe(false)
  })
})

describe('questions', () => {
  it('status exits 2 on drift only when asked', async () => {
    await node('apply', { config: aConfig('v1') })
    expect(await node('status --exit-code')).toMatchObject({ exit: 0 })
    rmSync(inEtc('motd.d/cairn'))
    expect(await node('status')).toMatchObject({ exit: 0, out: expect.stringContaining('/etc/motd.d/cairn') })
    expect(await node('status --exit-code')).toMatchObject({ exit: 2 })
  })

  it('verify and gc find nothing to do on a sound machine', async () => {
    await node('apply', { config: aConfig('v1') })
    expect(await node('verify')).toMatchObject({ exit: 0 })
    expect(await node('gc --dry-run')).toMatchObject({ exit: 0, out: expect.stringMatching(/^Nothing to collect/) })
  })

  it('why names the generation that needs a package', async () => {
    const { out } = await node('prepare --json', { config: aConfig('v1') })
    const [{ state }] = JSON.parse(out).packages.filter(({ name }: { name: string }) => name === 'motd')
    expect(JSON.parse((await node(`why ${state} --json`)).out)).toMatchObject({ state, alive: false })
    await node('apply', { config: aConfig('v1') })
    expect((await node(`why ${state}`)).out).toContain('generation 1')
  })

  it('recover finds nothing on a machine at rest', async () => {
    expect(await node('recover')).toMatchObject({ exit: 0, out: 'Nothing to recover.\n' })
  })
})
