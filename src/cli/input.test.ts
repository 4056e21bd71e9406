import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeTerminal } from '../lib/terminal.fake.ts'
import { readInput } from './input.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cairn-input-'))
})
afterEach(() => rm(directory, { recursive: true }))

describe('the file that -f names', () => {
  it('is read as text', async () => {
    const file = join(directory, 'overlay.json')
    await writeFile(file, '{"version": "grün"}')
    expect(await readInput(file, fakeTerminal())).toEqual({ file, text: '{"version": "grün"}' })
  })

  it('is standard input when it is -', async () => {
    expect(await readInput('-', fakeTerminal({ input: '{}' }))).toEqual({ file: '<stdin>', text: '{}' })
  })

  it('that does not exist or is a directory is a problem of the input', async () => {
    for (const file of [join(directory, 'nope.json'), directory])
      await expect(readInput(file, fakeTerminal())).rejects.toMatchObject({
        problems: [{ code: 'input.unreadable', reason: expect.stringContaining(file) }],
      })
  })

  it('that is not UTF-8 is a problem of the input', async () => {
    const file = join(directory, 'latin1.json')
    await writeFile(file, Buffer.from([0x7b, 0xfc, 0x7d]))
    await expect(readInput(file, fakeTerminal())).rejects.toMatchObject({ problems: [{ code: 'input.not-utf8' }] })
  })
})
