import { describe, expect, it } from 'vitest'
import { decoderOf, hasKnownExtension } from './encoding.ts'

const encodingOf = (source: Parameters<typeof decoderOf>[0], text = 'a: 1') => decoderOf(source, text).name

describe('the encoding of a source', () => {
  it('is the one that was stated', () => {
    expect(encodingOf({ name: 'a.json', encoding: 'yaml', contentType: 'application/json' }, '{}')).toBe('yaml')
  })

  it.each([
    ['a.yaml', 'yaml'],
    ['dir.json/a.YML', 'yaml'],
    ['a.json', 'json'],
    ['a.jsonnet', 'jsonnet'],
    ['https://example.com/a.json?b=c.yaml', 'json'],
    ['file:///x/a.jsonnet', 'jsonnet'],
  ])('is else that of the extension: %s', (name, encoding) => {
    expect(encodingOf({ name, contentType: 'text/x-other' }, 'text')).toBe(encoding)
  })

  it.each([
    ['application/json; charset=utf-8', 'json'],
    ['Application/YAML', 'yaml'],
    ['text/x-yaml', 'yaml'],
    ['application/jsonnet', 'jsonnet'],
  ])('is else that of the content type: %s', (contentType, encoding) => {
    expect(encodingOf({ name: 'stdin', contentType }, '{')).toBe(encoding)
  })

  it.each([
    [' \n{"a": 1}', 'json'],
    ['[1]', 'json'],
    ['- a', 'yaml'],
    ['"a": 1', 'yaml'],
  ])('is else told by the first character, and is YAML else: %j', (text, encoding) => {
    expect(encodingOf({ name: 'https://example.com/bundle', contentType: 'text/plain' }, text)).toBe(encoding)
    expect(encodingOf({ name: '.json' }, text)).toBe(encoding)
  })
})

describe('a directory', () => {
  it('is searched for the extensions of all encodings', () => {
    const names = ['a.yaml', 'a.yml', 'a.JSON', 'a.jsonnet', 'a.libsonnet', 'a.txt', 'yaml', '.yaml']
    expect(names.filter(hasKnownExtension)).toEqual(['a.yaml', 'a.yml', 'a.JSON', 'a.jsonnet'])
  })
})
