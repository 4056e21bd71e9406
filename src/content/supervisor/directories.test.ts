import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Files, realFiles } from '../../lib/files.ts'
import { type ContentLayout, contentLayoutOf } from '../layout.ts'
import { makeContentDirectories } from './directories.ts'

let base: string
let layout: ContentLayout
let given: string[]
let files: Files
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-directories-'))
  layout = contentLayoutOf({ base, run: join(base, 'run') })
  given = []
  files = { ...realFiles, lchown: (path, uid, gid) => given.push(`${path.slice(base.length)} to ${uid}:${gid}`) }
})
afterEach(() => rmSync(base, { recursive: true }))

it('makes each with its mode, and leaves those alone that are there', () => {
  mkdirSync(layout.verified, { recursive: true, mode: 0o700 })
  makeContentDirectories(files, layout, null)
  const mode = (path: string) => statSync(path).mode & 0o777
  expect(Object.values(layout).every(path => existsSync(path))).toBe(true)
  expect([layout.pending, layout.verified, layout.trust, layout.volumes].map(mode)).toEqual([
    0o700, 0o700, 0o755, 0o711,
  ])
  expect(given).toEqual([])
})

it('gives the downloader what is pending, also what another user has begun', () => {
  mkdirSync(layout.pending, { recursive: true })
  writeFileSync(join(layout.pending, 'begun'), 'x')
  makeContentDirectories(files, layout, { uid: 77, gid: 78 })
  expect(given).toEqual(['/content/pending/begun to 77:78', '/content/pending to 77:78'])
})

it('gives nothing away twice', () => {
  mkdirSync(layout.pending, { recursive: true })
  const { uid, gid } = statSync(layout.pending)
  makeContentDirectories(files, layout, { uid, gid })
  expect(given).toEqual([])
})
