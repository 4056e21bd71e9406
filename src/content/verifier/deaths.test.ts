import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { realFiles } from '../../lib/files.ts'
import type { Sha256 } from '../messages.ts'
import { readDeaths } from './deaths.ts'

let directory = ''
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'cairn-deaths-'))
})
afterEach(() => fs.rmSync(directory, { recursive: true }))

const one = '1'.repeat(64) as Sha256
const other = '2'.repeat(64) as Sha256
const start = (boot = 'boot') => readDeaths(realFiles, directory, boot)

it('counts each process that ends during the work', () => {
  for (const count of [0, 1, 2, 3]) {
    const deaths = start()
    expect(deaths.of(one)).toBe(count)
    expect(deaths.of(other)).toBe(0)
    deaths.begin(one)
  }
})

it('does not count a process that ends elsewhere', () => {
  start().begin(one)
  expect(start().of(one)).toBe(1)
  expect(start().of(one)).toBe(1)
})

it('forgets all deaths when the work has ended, and leaves no file', () => {
  start().begin(one)
  const deaths = start()
  deaths.begin(one)
  deaths.end(one)
  expect(deaths.of(one)).toBe(0)
  expect(fs.readdirSync(directory)).toEqual([])
  expect(start().of(one)).toBe(0)
})

it('does not take a power cut for a death, but knows that work was cut short', () => {
  start('first boot').begin(one)
  const deaths = start('second boot')
  expect(deaths.of(one)).toBe(0)
  expect([...deaths.interrupted]).toEqual([one])
  expect(fs.readdirSync(directory)).toEqual([])
})

it('leaves other files alone', () => {
  fs.writeFileSync(join(directory, 'working.notes'), '')
  start().begin(one)
  start()
  expect(fs.readdirSync(directory)).toEqual([`deaths.${one}.1`, 'working.notes'])
})
