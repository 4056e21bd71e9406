import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { realFiles } from '../../../lib/files.ts'
import { logAt } from './log.ts'

describe('a log', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-log-'))
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const open = (limit?: number) => logAt(realFiles, join(directory, 'a.log'), limit)

  it('hands over its last lines, also one without an end', () => {
    const log = open()
    expect(log.tail(2)).toEqual([])
    log.write(Buffer.from('one\ntwo\nthr'))
    log.write(Buffer.from('ee'))
    expect(log.tail(2)).toEqual(['two', 'three'])
    expect(log.tail(9)).toEqual(['one', 'two', 'three'])
  })

  it('stays within its limit, ends with what was written last and begins with a whole line', () => {
    const log = open(1000)
    for (let line = 0; line < 500; line++) {
      log.write(Buffer.from(`line ${line}\n`))
      expect(statSync(join(directory, 'a.log')).size).toBeLessThanOrEqual(1000)
    }
    const lines = log.tail(1000)
    expect(lines.at(-1)).toBe('line 499')
    expect(lines.every(line => /^line \d+$/.test(line))).toBe(true)
    expect(readdirSync(directory)).toEqual(['a.log'])
  })

  it('keeps the end of a write that is larger than itself', () => {
    const log = open(100)
    log.write(Buffer.from(`${'x'.repeat(5000)}end\n`))
    expect(log.tail(1)[0]).toMatch(/^x+end$/)
  })

  it('loses what it cannot write, and nobody falls over it', () => {
    const log = open()
    rmSync(directory, { recursive: true })
    expect(() => log.write(Buffer.from('lost\n'))).not.toThrow()
  })
})
