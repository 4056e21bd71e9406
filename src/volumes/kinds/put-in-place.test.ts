import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Crash, faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { writeNew } from '../../lib/write-new.ts'
import { isTemporaryName } from '../names.ts'
import { kindContext } from './context.fake.ts'
import { putInPlace } from './put-in-place.ts'
import { temporaryDirectory } from './temporary-directory.fake.ts'

const name = 'web+data#1.raw'
const { signal } = new AbortController()

describe('putInPlace', () => {
  it('syncs the file under its temporary name, renames it and syncs the directory', async () => {
    const place = temporaryDirectory()
    const target = join(place, name)
    const seen: string[][] = []
    const context = kindContext({ onSync: () => seen.push(readdirSync(place)) })
    const made = await putInPlace({ target, signal }, context, path => writeNew(realFiles, path, 'data'))
    expect(made).toEqual({ path: target, usedSize: expect.any(Number) })
    expect(readFileSync(target, 'utf8')).toBe('data')
    expect(context.synced).toEqual([expect.stringMatching(/^\.web\+data#1\.raw\.tmp-[0-9a-f]{12}$/), ''])
    expect(seen).toEqual([[context.synced[0]], [name]])
    expect(isTemporaryName(context.synced[0]!)).toBe(true)
  })

  it('never overwrites what is there, also when it came while the volume was made', async () => {
    const place = temporaryDirectory()
    const target = join(place, name)
    const late = putInPlace({ target, signal }, kindContext(), path => {
      writeNew(realFiles, path, 'new')
      writeFileSync(target, 'old')
    })
    await expect(late).rejects.toMatchObject({ code: 'volume.exists' })
    const early = putInPlace({ target, signal }, kindContext(), () => expect.unreachable())
    await expect(early).rejects.toMatchObject({ code: 'volume.exists' })
    expect(readFileSync(target, 'utf8')).toBe('old')
    expect(readdirSync(place)).toEqual([name])
  })

  it('leaves nothing when it is aborted: before, while it makes, and while it syncs', async () => {
    const place = temporaryDirectory()
    const target = join(place, name)
    for (const when of ['before', 'making', 'syncing']) {
      const abort = new AbortController()
      if (when === 'before') abort.abort()
      const context = kindContext({ onSync: () => abort.abort() })
      const making = putInPlace({ target, signal: abort.signal }, context, path => {
        writeNew(realFiles, path, 'data')
        if (when === 'making') abort.abort()
      })
      await expect(making).rejects.toMatchObject({ name: 'AbortError' })
      expect(readdirSync(place), when).toEqual([])
    }
  })

  it('leaves nothing when a change fails or a sync does, and says why', async () => {
    const place = temporaryDirectory()
    const target = join(place, name)
    const create = (context: ReturnType<typeof kindContext>) =>
      putInPlace({ target, signal }, context, path => writeNew(context.files, path, 'data'))
    const counting = faultyFiles(realFiles)
    await create(kindContext({ files: counting }))
    realFiles.unlink(target)
    expect(counting.calls).toBe(3)

    for (let failAt = 1; failAt <= counting.calls; failAt++) {
      const full = create(kindContext({ files: faultyFiles(realFiles, { failAt, code: 'ENOSPC' }) }))
      await expect(full).rejects.toMatchObject({ code: 'content.no-space' })
      const broken = create(kindContext({ files: faultyFiles(realFiles, { failAt, code: 'EIO' }) }))
      await expect(broken).rejects.toMatchObject({ code: 'volume.write-failed' })
      expect(readdirSync(place)).toEqual([])
    }
    for (const failing of [1, 2]) {
      let syncs = 0
      const onSync = () => {
        if (++syncs === failing) throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
      }
      await expect(create(kindContext({ onSync }))).rejects.toMatchObject({ code: 'content.no-space' })
      expect(readdirSync(place)).toEqual([])
    }
  })

  it('leaves a temporary name at most when the process dies, at whatever call', async () => {
    for (let crashAt = 1; crashAt <= 3; crashAt++) {
      const place = temporaryDirectory()
      const context = kindContext({ files: faultyFiles(realFiles, { crashAt }) })
      const making = putInPlace({ target: join(place, name), signal }, context, path =>
        writeNew(context.files, path, 'data'),
      )
      await expect(making).rejects.toBeInstanceOf(Crash)
      expect(readdirSync(place).filter(left => !isTemporaryName(left))).toEqual([])
    }
  })

  it('takes a directory as well, which is not among the synced names', async () => {
    const place = temporaryDirectory()
    const target = join(place, 'web+data#1')
    const context = kindContext()
    expect(await putInPlace({ target, signal }, context, path => mkdirSync(path))).toEqual({
      path: target,
      usedSize: 0,
    })
    expect(context.synced).toEqual(['', ''])
    expect(existsSync(target)).toBe(true)
  })
})
