import { describe, expect, it } from 'vitest'
import { CairnError, ProblemsError, RefusedError } from '../lib/errors.ts'
import { fakeTerminal } from '../lib/terminal.fake.ts'
import { type Answer, answer, type Catalogue, command, type Nature, type Session } from './command.ts'
import { runCairn } from './run.ts'

const catalogueOf = (run: (session: Session) => Promise<Answer>, nature: Nature = 'store'): Catalogue => ({
  topics: [],
  commands: [
    command({
      name: 'try',
      group: 'Test',
      nature,
      summary: 'test',
      description: [],
      examples: [],
      run: (_, session) => run(session),
    }),
  ],
})

const says = (report: string, exit: Answer['exit'] = 0) =>
  answer({ report: { said: report }, print: ({ said }) => said, exit })

async function cairn(line: string, catalogue: Catalogue) {
  const terminal = fakeTerminal()
  const exit = await runCairn(line.split(' '), terminal, catalogue)
  return { exit, ...terminal.printed }
}

describe('an answer', () => {
  it('is printed for people, or as JSON for programs', async () => {
    const catalogue = catalogueOf(async () => says('hello'))
    expect(await cairn('try', catalogue)).toEqual({ exit: 0, out: 'hello\n', err: '' })
    expect(await cairn('try --json', catalogue)).toEqual({ exit: 0, out: '{\n  "said": "hello"\n}\n', err: '' })
  })

  it('gives the exit code', async () => {
    expect(
      await cairn(
        'try',
        catalogueOf(async () => says('x', 6)),
      ),
    ).toMatchObject({ exit: 6 })
  })

  it('loses control characters for people, and has them escaped for programs', async () => {
    const catalogue = catalogueOf(async () => says('a\x1b[2J\u009bb'))
    expect((await cairn('try', catalogue)).out).toBe('ab\n')
    const { out } = await cairn('try --json', catalogue)
    expect(out).toContain(String.raw`a\u001b[2J\u009bb`)
    expect(JSON.parse(out)).toEqual({ said: 'a\x1b[2J\u009bb' })
  })
})

describe('--quiet', () => {
  it('prints nothing when a change went well', async () => {
    expect(
      await cairn(
        'try --quiet',
        catalogueOf(async () => says('done')),
      ),
    ).toEqual({ exit: 0, out: '', err: '' })
  })

  it('prints what needs attention', async () => {
    expect(
      await cairn(
        'try -q',
        catalogueOf(async () => says('rolled back', 1)),
      ),
    ).toMatchObject({ out: 'rolled back\n' })
  })

  it('leaves the answer to a question, and JSON that was asked for', async () => {
    expect(
      await cairn(
        'try -q',
        catalogueOf(async () => says('yes'), 'question'),
      ),
    ).toMatchObject({ out: 'yes\n' })
    expect(
      (
        await cairn(
          'try -q --json',
          catalogueOf(async () => says('done')),
        )
      ).out,
    ).toContain('"said": "done"')
  })
})

describe('progress', () => {
  const working = catalogueOf(async ({ progress }) => {
    progress.begin('runc').done()
    return says('done')
  })

  it('goes to standard error', async () => {
    expect(await cairn('try', working)).toEqual({ exit: 0, out: 'done\n', err: '  ✓ runc\n' })
  })

  it.each(['--json', '--quiet'])('is not shown with %s', async option => {
    expect((await cairn(`try ${option}`, working)).err).toBe('')
  })
})

describe('an error', () => {
  const problem = { code: 'etc.conflict', path: 'x', reason: 'in the way' } as const
  const cases = [
    [3, 'input.invalid', new ProblemsError([problem])],
    [4, 'etc.conflict', new RefusedError('etc.conflict', 'refused', { problems: [problem] })],
    [1, 'store.broken', new CairnError('store.broken', 'failed')],
    [1, 'internal.defect', new TypeError('oops')],
  ] as const

  it.each(cases)('exits %d (%s) and goes to standard error', async (exit, _, error) => {
    const result = await cairn(
      'try',
      catalogueOf(() => Promise.reject(error)),
    )
    expect(result).toMatchObject({ exit, out: '' })
    expect(result.err).not.toBe('')
  })

  it.each(cases)('exits %d (%s) and is JSON on standard output with --json', async (exit, code, error) => {
    const result = await cairn(
      'try --json',
      catalogueOf(() => Promise.reject(error)),
    )
    expect(result).toMatchObject({ exit, err: '' })
    expect(JSON.parse(result.out)).toMatchObject({ error: { code } })
  })

  it('in the command line exits 64, in the form that was asked for', async () => {
    const catalogue = catalogueOf(async () => says('x'))
    expect(await cairn('tri', catalogue)).toMatchObject({ exit: 64, out: '' })
    const { exit, out } = await cairn('tri --json', catalogue)
    expect(exit).toBe(64)
    expect(JSON.parse(out)).toMatchObject({ error: { code: 'usage.unknown-command', problems: [] } })
  })

  it('shows its stack only with --debug', async () => {
    const failing = catalogueOf(() => Promise.reject(new CairnError('a.b', 'failed')))
    expect((await cairn('try', failing)).err).not.toContain('run.test.ts')
    expect((await cairn('try --debug', failing)).err).toContain('run.test.ts')
  })
})
