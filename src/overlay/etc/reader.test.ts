// A process that reads all the time while generations come and go.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ownsNothing } from './entry.ts'
import { type FakeMachine, fakeMachine, type Wish } from './etc.fake.ts'

let machine: FakeMachine
beforeEach(() => {
  machine = fakeMachine()
})
afterEach(() => machine.remove())

/** Reads every target over and over until its input ends, then tells what it met. */
const reader = `
const fs = require('node:fs')
const [directory, ...targets] = process.argv.slice(1)
let running = true, rounds = 0
const missing = {}, seen = {}
process.stdin.on('end', () => { running = false }).resume()
function round() {
  for (let i = 0; i < 50; i++) for (const target of targets)
    try { seen[fs.readFileSync(directory + '/' + target, 'utf8')] = true } catch (error) { missing[target + ' ' + error.code] = true }
  if (rounds++ === 0) process.stderr.write('reading')
  if (running) setImmediate(round)
  else process.stdout.write(JSON.stringify({ missing: Object.keys(missing), seen: Object.keys(seen).sort() }))
}
round()
`

it('never finds a target missing that both generations have', async () => {
  const copied = (text: string): Wish => ({ text, mode: 0o644 })
  const kinds = {
    link: [{ text: '1' }, { text: '2' }],
    copy: [copied('1'), copied('2')],
    'link-copy': [{ text: '1' }, copied('2')],
    'link-direct': [{ text: '1' }, { direct: 'link' }],
    'copy-direct': [copied('1'), { direct: 'link' }],
    'deep/er/link': [{ text: '1' }, { text: '2' }],
  } as const satisfies Record<string, readonly [Wish, Wish]>
  const wishes = (side: 0 | 1) =>
    Object.fromEntries(Object.entries(kinds).map(([target, pair]) => [target, pair[side]]))
  const sides = [
    machine.want({ ...wishes(0), 'only/here': { text: 'x' } }),
    machine.want({ ...wishes(1), 'deep/new': { text: 'y' } }),
  ]
  let owned = machine.apply(sides[0]!, ownsNothing)

  const child = spawn(process.execPath, ['-e', reader, machine.layout.etc, ...Object.keys(kinds)])
  await once(child.stderr, 'data')
  for (let turn = 1; turn <= 60; turn++) {
    owned = machine.apply(sides[turn % 2]!, owned)
    await new Promise(resolve => setImmediate(resolve))
  }
  child.stdin.end()
  const [report] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(JSON.parse(report)).toEqual({ missing: [], seen: ['1', '2'] })
})
