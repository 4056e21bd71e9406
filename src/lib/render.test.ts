import { describe, expect, it } from 'vitest'
import { CairnError, ProblemsError, RefusedError } from './errors.ts'
import type { Problem } from './problem.ts'
import { errorToJson, renderError, renderWarnings } from './render.ts'
import { aStyle } from './style.fake.ts'

const inWeb: Problem = {
  code: 'key.unknown',
  path: 'metadta',
  reason: 'unknown key "metadta" in Label',
  hint: 'did you mean "metadata"?',
  source: { file: 'broken/web.yaml', line: 3, column: 1 },
}
const port: Problem = {
  code: 'value.range',
  path: 'Instance/web.spec.roles.server.settings.port',
  reason: 'port must be between 1 and 65535, got 80801',
  source: { file: 'broken/web.yaml', line: 21, column: 9 },
}
const inVolume: Problem = {
  code: 'reference.unknown',
  path: 'spec.datastore',
  reason: 'datastore "harbour" does not exist',
  hint: 'did you mean "harbor" (vol.yaml:1)?',
  source: { file: 'broken/vol.yaml', line: 8, column: 5 },
}
const conflict: Problem = {
  code: 'etc.conflict',
  path: 'packageByNames.caddy.etcFiles[0]',
  reason: '/etc/caddy/Caddyfile exists and was not made by Cairn (a file, 1.2 kB, changed 3 days ago).',
  hint: 'Move it away, or set replaceExisting: true on packageByNames.caddy.etcFiles[0].',
}

const golden = (name: string) => `golden/error-${name}.txt`

describe('gathered problems', () => {
  it('stand by file and line, aligned, with a count', async () => {
    const text = renderError(new ProblemsError([port, inWeb, inVolume]), aStyle({ width: 140 }))
    await expect(text).toMatchFileSnapshot(golden('problems'))
  })

  it('put the next step below the reason where the line is too short for both', async () => {
    const text = renderError(new ProblemsError([port, inWeb]), aStyle({ width: 60 }))
    await expect(text).toMatchFileSnapshot(golden('problems-narrow'))
  })

  it('without a place in a file are paragraphs', async () => {
    const text = renderError(new RefusedError('etc.conflict', 'conflicts', { problems: [conflict] }), aStyle())
    await expect(text).toMatchFileSnapshot(golden('conflict'))
  })

  it('stand below the refusal that they explain, when it says more than they do', async () => {
    const problems: Problem[] = [{ code: 'state.missing', path: '', reason: 'runc-3f9a2k7q is not in the store' }]
    const refusal = new RefusedError('rollback.impossible', 'generation 3 cannot be activated', { problems })
    await expect(renderError(refusal, aStyle())).toMatchFileSnapshot(golden('refused-with-problems'))
  })
})

describe('a single error', () => {
  it('says what happened, the cause and the next step', async () => {
    const cause = new Error('ENOSPC: no space left on device, write')
    const error = new CairnError('store.write-failed', 'cannot write state runc', { hint: 'Make room.', cause })
    await expect(renderError(error, aStyle())).toMatchFileSnapshot(golden('single'))
  })

  it('says that nothing was changed when it is a refusal', () => {
    const text = renderError(new RefusedError('lock.busy', 'another apply runs', { hint: 'Wait.' }), aStyle())
    expect(text.split('\n').at(-1)).toBe('Nothing was changed.')
  })

  it('shows no stack without debug, and that of each cause with it', () => {
    const error = new CairnError('a.b', 'outer', { cause: new Error('inner') })
    expect(renderError(error, aStyle())).not.toContain('render.test.ts')
    expect(renderError(error, aStyle(), { debug: true }).match(/render\.test\.ts/g)?.length).toBeGreaterThan(1)
  })

  it.each([
    ['EACCES', 'file.denied'],
    ['ENOSPC', 'disk.full'],
    ['EMFILE', 'system.failed'],
  ])('of the system with %s is %s', (errno, code) => {
    const error = Object.assign(new Error(`${errno}: x`), { code: errno, syscall: 'open' })
    expect(errorToJson(error).error.code).toBe(code)
  })

  it('that nobody foresaw is a defect', () => {
    expect(errorToJson(new TypeError('x is not a function')).error.code).toBe('internal.defect')
    expect(errorToJson('thrown text').error.message).toBe('thrown text')
  })
})

describe('what is shown', () => {
  const error = new CairnError('source.failed', 'GET https://me:hunter2@host.example/x?key=hunter2 \x1b[2Jfailed', {
    hint: 'Authorization: hunter2',
    cause: new Error('token=hunter2'),
  })

  it.each([
    ['text', renderError(error, aStyle(), { debug: true })],
    ['JSON', JSON.stringify(errorToJson(error))],
    ['a gathered reason', renderError(new ProblemsError([{ ...conflict, reason: error.message }]), aStyle())],
  ])('has neither credentials nor control characters in %s', (_, text) => {
    expect(text).not.toContain('hunter2')
    expect(text).not.toMatch(/\x1b|\\u001b/)
    expect(text).toContain('host.example')
  })
})

it('prints warnings with their place and hint', () => {
  expect(renderWarnings([inWeb, conflict], aStyle({ width: 200 }))).toEqual([
    'warning  broken/web.yaml:3:1  unknown key "metadta" in Label',
    '         did you mean "metadata"?',
    `warning  ${conflict.reason}`,
    `         ${conflict.hint}`,
  ])
})
