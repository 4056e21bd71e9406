import { describe, expect, it } from 'vitest'
import { fakeTerminal } from '../lib/terminal.fake.ts'
import type { Session } from './command.ts'
import { catalogue } from './commands/all.ts'
import { nodeUninstall } from './commands/node-uninstall.ts'
import { nodeOptionsOf, whereOf } from './node.ts'
import { hiddenProgress } from './progress.ts'

const aSession = (differs: Partial<Session> = {}): Session => ({
  argv: ['node', 'status'],
  catalogue,
  terminal: fakeTerminal(),
  progress: hiddenProgress,
  json: false,
  ...differs,
})

describe('the machine', () => {
  it('is named by absolute paths', () => {
    const { root, store, command } = nodeOptionsOf({ root: 'try', store: '/data' }, aSession())
    expect({ root, store, command }).toEqual({
      root: `${process.cwd()}/try`,
      store: '/data',
      command: 'cairn node status',
    })
    expect(() => nodeOptionsOf({ store: 'data' }, aSession())).toThrow(
      expect.objectContaining({ code: 'usage.bad-value' }),
    )
  })

  it('is named in suggested commands as it was given, quoted for a shell', () => {
    expect(whereOf({})).toBe('')
    expect(whereOf({ root: './try', store: '/data' })).toBe(' --root ./try --store /data')
    expect(whereOf({ root: "it's here" })).toBe(` --root 'it'\\''s here'`)
  })
})

describe('uninstall', () => {
  it.each([
    ['nobody can be asked', aSession()],
    ['the answer is another word', aSession({ terminal: fakeTerminal({ answer: 'yes' }) })],
    ['a program asks', aSession({ terminal: fakeTerminal({ answer: 'uninstall' }), json: true })],
  ])('is refused when %s', async (_, session) => {
    await expect(nodeUninstall.run({}, session)).rejects.toMatchObject({ code: 'uninstall.not-confirmed' })
  })
})
