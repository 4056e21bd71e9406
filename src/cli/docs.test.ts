import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codesInSources, referencePages } from '../../scripts/docs.ts'
import { codeMeanings } from './codes.ts'

describe('codes', () => {
  it('of the sources all have a meaning in codes.ts', () => {
    expect(codesInSources().filter(code => !(code in codeMeanings))).toEqual([])
  })

  it('with a meaning all stand somewhere in the sources', () => {
    const used = new Set(codesInSources())
    expect(Object.keys(codeMeanings).filter(code => !used.has(code))).toEqual([])
  })

  it('are sorted, and each meaning is a sentence', () => {
    expect(Object.keys(codeMeanings)).toEqual(Object.keys(codeMeanings).sort())
    for (const meaning of Object.values(codeMeanings)) expect(meaning).toMatch(/^[A-Z/].*\.$/i)
  })
})

it.each(Object.entries(referencePages()))('%s is up to date; else: node scripts/docs.ts', (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text)
})
