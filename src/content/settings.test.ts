import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ProblemsError } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { defaultSettings } from './default-settings.ts'
import { readSettings } from './settings.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-settings-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function read(settings: unknown) {
  const path = join(directory, 'content.json')
  writeFileSync(path, typeof settings === 'string' ? settings : JSON.stringify(settings, null, 1))
  return readSettings(realFiles, path)
}

function faults(settings: unknown): string[] {
  try {
    read(settings)
  } catch (error) {
    if (error instanceof ProblemsError)
      return error.problems.map(({ code, path, source }) => `${code} ${path} line ${source?.line}`)
    throw error
  }
  throw new Error('nothing was refused')
}

describe('settings', () => {
  it('are the defaults without a file, and in an empty one', () => {
    expect(readSettings(realFiles, join(directory, 'none.json'))).toBe(defaultSettings)
    expect(read({})).toEqual(defaultSettings)
  })

  it('take durations as people write them, and seconds', () => {
    expect(read({ 'content.gc.volume': '2h', 'content.deleteDelay': 90 }).manager).toMatchObject({
      gcVolumeSeconds: 7200,
      deleteDelaySeconds: 90,
    })
  })

  it('know the older name of the timer, and prefer the newer one', () => {
    expect(read({ 'timer.gc.vdisk': 120 }).manager.gcVolumeSeconds).toBe(120)
    expect(read({ 'timer.gc.vdisk': 120, 'content.gc.volume': '5m' }).manager.gcVolumeSeconds).toBe(300)
  })

  it('take a password from the first line of a file beside them', () => {
    writeFileSync(join(directory, 'pw'), 'geheim\nrest\n')
    const { datastores } = read({ datastores: [{ host: 'r.example', username: 'u', passwordFile: 'pw' }] }).downloader
    expect(datastores).toEqual([{ host: 'r.example', username: 'u', password: 'geheim' }])
  })

  it('say everything that is wrong at once, with its line', () => {
    expect(
      faults({
        'content.gc.volume': '1s',
        'content.stall': 'soon',
        'content.bandwidth': 'much',
        'content.atOnce': 99,
        datastores: [{ host: 'r.example', passwordFile: 'missing' }],
      }),
    ).toEqual([
      'size.invalid ["content.bandwidth"] line 4',
      'file.missing datastores[0].passwordFile line 9',
      'value.invalid ["content.atOnce"] line 5',
      'duration.invalid ["content.stall"] line 3',
      'value.invalid ["content.gc.volume"] line 2',
    ])
  })

  it('name the key that was perhaps meant', () => {
    try {
      read({ 'content.gc.volumes': 60 })
      expect.unreachable()
    } catch (error) {
      expect((error as ProblemsError).problems).toMatchObject([
        { code: 'key.unknown', hint: expect.stringContaining('content.gc.volume') },
      ])
    }
  })

  it('never repeat a password that is wrong', () => {
    const password = 'x'.repeat(5000)
    try {
      read({ datastores: [{ host: 'r.example', password }] })
      expect.unreachable()
    } catch (error) {
      expect(JSON.stringify((error as ProblemsError).problems)).not.toContain('xxx')
    }
  })

  it('that are no JSON are told with the place', () => {
    expect(faults('{\n "content.atOnce": }')).toEqual(['json.syntax  line 2'])
  })
})
