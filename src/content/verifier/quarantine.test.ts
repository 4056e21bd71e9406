import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import type { Sha256 } from '../messages.ts'
import { putAway } from './quarantine.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'cairn-quarantine-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true }))

function put(digit: string, second: number, keep: number) {
  const path = join(directory, 'copy')
  fs.writeFileSync(path, digit)
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, second))
  putAway(realFiles, directory, keep, { path, sha256: digit.repeat(64) as Sha256, time })
}

it('keeps the newest few, of whatever digest, and what is not its own', () => {
  fs.writeFileSync(join(directory, 'README'), '')
  put('f', 1, 2)
  put('a', 2, 2)
  put('c', 3, 2)
  expect(fs.readdirSync(directory).sort()).toEqual([
    'README',
    `${'a'.repeat(64)}.20260101T000002000Z.bad`,
    `${'c'.repeat(64)}.20260101T000003000Z.bad`,
  ])
})

it('keeps nothing when nothing is to be kept', () => {
  put('a', 1, 0)
  expect(fs.readdirSync(directory)).toEqual([])
})
