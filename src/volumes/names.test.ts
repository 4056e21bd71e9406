import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { halfMadeName } from '../content/half-made.ts'
import { diskFormats, type VolumeConfig } from '../content/messages.ts'
import { canonicalJson } from '../lib/json.ts'
import { aVolume } from './kinds/context.fake.ts'
import {
  formatVolumeName,
  formatVolumeRecord,
  isTemporaryName,
  parseVolumeName,
  readVolumeRecord,
  recordPath,
  type VolumeName,
  type VolumeRecord,
  volumeKey,
  volumeNameOf,
} from './names.ts'

const parameters = {
  ...(process.env.CAIRN_SEED && { seed: Number(process.env.CAIRN_SEED) }),
  ...(process.env.CAIRN_RUNS && { numRuns: Number(process.env.CAIRN_RUNS) }),
}
const part = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/)
const volumeName: fc.Arbitrary<VolumeName> = fc.record(
  { owner: part, id: part, generation: fc.maxSafeNat(), format: fc.constantFrom(...diskFormats) },
  { requiredKeys: ['owner', 'id', 'generation'] },
)
const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

describe('the golden list of names', () => {
  const lines = readFileSync(join(import.meta.dirname, 'golden/names.txt'), 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)

  it('is there', () => {
    expect(lines.length).toBeGreaterThanOrEqual(13)
  })

  it.each(lines)('reads %s', (name, parsed) => {
    expect(canonicalJson({ ...parseVolumeName(name) })).toBe(parsed)
  })
})

describe('names of volumes', () => {
  it('are read back as what they were made from', () => {
    fc.assert(
      fc.property(volumeName, name => {
        expect(parseVolumeName(formatVolumeName(name))).toEqual(name)
      }),
      parameters,
    )
  })

  it('are the only ones that are read: what parses is spelled as it would be written, or in the form of the seed', () => {
    const close = fc.stringMatching(/^[a-z0-9+#.-]{1,40}$/)
    const bent = fc
      .tuple(volumeName.map(formatVolumeName), fc.nat(), fc.string({ maxLength: 2 }))
      .map(
        ([name, at, text]) => name.slice(0, at % (name.length + 1)) + text + name.slice((at % (name.length + 1)) + 1),
      )
    fc.assert(
      fc.property(fc.oneof(fc.string(), close, bent), text => {
        const parsed = parseVolumeName(text)
        if (parsed)
          expect('form' in parsed ? parsed.form : formatVolumeName(parsed)).toBe('form' in parsed ? 'seed' : text)
      }),
      parameters,
    )
  })

  it.each([
    '',
    'records',
    'lost+found',
    'web+data',
    'web+data#',
    'web+data#01.raw',
    'web+data#-1.raw',
    'web+data#1.5.raw',
    'web+data#9007199254740992.raw',
    'web+data#1.RAW',
    'web+data#1.img',
    'web+data#1.',
    'web+data#1.raw.bak',
    'web+data#1.raw\n',
    'Web+data#1.raw',
    '-web+data#1.raw',
    'we.b+data#1.raw',
    '../web+data#1.raw',
    'web+a+b#1.raw',
    '+data#1.raw',
    `${'a'.repeat(64)}+data#1.raw`,
    '.web+data#1.raw.tmp-000000000000',
    `${sha256}.raw`,
    `${sha256}-web`,
    `${sha256.slice(1)}-web.raw`,
    `${sha256}-WEB.raw`,
    `${sha256}-web#01.raw`,
    `${sha256}-web#.raw`,
  ])('do not include "%s"', name => {
    expect(parseVolumeName(name)).toBeNull()
  })

  it('come from the config, with the purges counted: directories have no format, cloud-init is always an ISO', () => {
    const nameOf = (fields: Partial<VolumeConfig>) => formatVolumeName(volumeNameOf(aVolume(fields), 4))
    expect(nameOf({})).toBe('web+data#4.raw')
    expect(nameOf({ format: 'qcow2', readOnly: true })).toBe('web+data#4.qcow2')
    expect(nameOf({ kind: 'container' })).toBe('web+data#4')
    expect(nameOf({ origin: 'cloud-init' })).toBe('web+data#4.iso')
  })

  it('give the key under which a volume is asked for', () => {
    expect(volumeKey({ origin: 'cloud-init', owner: 'web', id: 'seed', generation: 2, format: 'iso' })).toBe(
      'cloud-init:web:seed#2',
    )
  })
})

describe('temporary names', () => {
  it('are known for what they are, whatever the random part', () => {
    fc.assert(
      fc.property(volumeName, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (volume, random) => {
        const name = formatVolumeName(volume)
        expect(isTemporaryName(halfMadeName(name, () => random))).toBe(true)
        expect(isTemporaryName(halfMadeName(`${name}.json`, () => random))).toBe(true)
        expect(isTemporaryName(name)).toBe(false)
      }),
      parameters,
    )
  })

  it.each([
    '.web+data#1.raw',
    '.web+data#1.raw.tmp-',
    '.notes.tmp-0123456789ab',
    '.x.tmp-1',
    'web+data#1.raw.tmp-0123456789ab',
  ])('do not include %s, which nobody may remove', name => {
    expect(isTemporaryName(name)).toBe(false)
  })
})

describe('records', () => {
  const record: VolumeRecord = {
    version: 1,
    origin: 'download',
    size: 4096,
    created: '2026-03-01T10:00:00.000Z',
    displayName: 'data of the web server',
    kind: 'disk',
    format: 'qcow2',
    readOnly: false,
  }

  it('stand below records/ under the name of their volume', () => {
    expect(recordPath('/cairn/volumes', 'web+data#1.raw')).toBe('/cairn/volumes/records/web+data#1.raw.json')
  })

  it('are read back as they were written', () => {
    expect(readVolumeRecord(formatVolumeRecord(record))).toEqual(record)
    const text = formatVolumeRecord({ ...record, sha256: sha256 as VolumeRecord['sha256'] })
    expect(readVolumeRecord(text)).toMatchObject({ sha256 })
  })

  it.each([
    ['half of the text', formatVolumeRecord(record).slice(0, 40)],
    ['nothing', ''],
    ['another version', JSON.stringify({ ...record, version: 2 })],
    ['an unknown field', JSON.stringify({ ...record, colour: 'red' })],
    ['a digest in upper case', JSON.stringify({ ...record, sha256: sha256.toUpperCase() })],
    ['a negative size', JSON.stringify({ ...record, size: -1 })],
  ])('are no record with %s', (_, text) => {
    expect(readVolumeRecord(text)).toBeNull()
  })
})
