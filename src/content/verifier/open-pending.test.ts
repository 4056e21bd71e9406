import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import { openPending } from './open-pending.ts'
import { type Bench, bench } from './verifier.fake.ts'

let its: Bench
beforeEach(() => {
  its = bench()
})
afterEach(() => its.remove())

const at = (name: string) => join(its.layout.pending, name)
const open = (path: string, downloaderUid?: number) =>
  openPending({ files: realFiles, layout: its.layout, downloaderUid }, path)
const codeOf = (path: string, downloaderUid?: number) => {
  const opened = open(path, downloaderUid)
  return 'setback' in opened ? opened.setback.code : fs.closeSync(opened.fd)
}

it('opens a plain file and tells its size', () => {
  fs.writeFileSync(at('plain'), 'seven..')
  const opened = open(at('plain'), process.getuid!())
  expect(opened).toMatchObject({ size: 7 })
  if ('fd' in opened) fs.closeSync(opened.fd)
})

it('does not follow a symbolic link, out of pending/ or within it', () => {
  fs.writeFileSync(at('plain'), '')
  fs.symlinkSync('plain', at('inside'))
  fs.symlinkSync('/etc/passwd', at('outside'))
  fs.symlinkSync('nowhere', at('dangling'))
  for (const name of ['inside', 'outside', 'dangling']) expect(codeOf(at(name))).toBe('content.unsafe-file')
})

it('does not wait for a FIFO', () => {
  execFileSync('mkfifo', [at('fifo')])
  expect(codeOf(at('fifo'))).toBe('content.unsafe-file')
})

it('does not read a device', () => {
  const layout = { ...its.layout, pending: '/dev' }
  expect(openPending({ files: realFiles, layout, downloaderUid: undefined }, '/dev/zero')).toMatchObject({
    setback: { code: 'content.unsafe-file' },
  })
})

it('does not take a directory', () => {
  fs.mkdirSync(at('directory'))
  expect(codeOf(at('directory'))).toBe('content.unsafe-file')
})

it('does not take a file that has a second name', () => {
  fs.writeFileSync(at('one'), '')
  fs.linkSync(at('one'), at('two'))
  expect(codeOf(at('one'))).toBe('content.unsafe-file')
})

it('does not take a file of somebody else', () => {
  fs.writeFileSync(at('plain'), '')
  expect(codeOf(at('plain'), process.getuid!() + 1)).toBe('content.unsafe-file')
})

it('opens nothing that is not directly in pending/', () => {
  fs.mkdirSync(at('below'))
  fs.writeFileSync(at('below/file'), '')
  fs.writeFileSync(join(its.layout.verified, 'file'), '')
  for (const path of [
    at('below/file'),
    `${its.layout.pending}/../verified/file`,
    its.layout.pending,
    at('..'),
    at('.'),
  ])
    expect(codeOf(path)).toBe('content.unsafe-file')
})

it('tells of a file that is not there', () => {
  expect(codeOf(at('nothing'))).toBe('content.pending-missing')
})

it('leaves no descriptor open', () => {
  fs.mkdirSync(at('directory'))
  const before = fs.readdirSync('/proc/self/fd').length
  for (let n = 0; n < 10; n++) codeOf(at('directory'))
  expect(fs.readdirSync('/proc/self/fd')).toHaveLength(before)
})
