import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { VolumeConfig } from '../../content/messages.ts'
import { faultyFiles } from '../../lib/files.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { cloudInitKind } from './cloud-init.ts'
import { aRequest, kindContext } from './context.fake.ts'
import { readIso } from './iso9660.fake.ts'
import { temporaryDirectory } from './temporary-directory.fake.ts'

const userData = '#cloud-config\nhostname: one\n'

function setUp() {
  const place = temporaryDirectory()
  const target = join(place, 'web+seed#3.iso')
  const create = (cloudInit: VolumeConfig['cloudInit'] = { userData }, context = kindContext()) =>
    cloudInitKind.create(
      aRequest(target, {
        config: { origin: 'cloud-init', id: 'seed', format: 'iso', ...(cloudInit && { cloudInit }) },
      }),
      context,
    )
  const left = () => readdirSync(place)
  return { target, create, left }
}

const contents = (path: string) =>
  Object.fromEntries(
    Object.entries(readIso(readFileSync(path)).rockRidge).map(([name, { content }]) => [name, content]),
  )

describe('a cloud-init volume', () => {
  it('has the user data and says which instance it is for: the generation of its name, purges counted', async () => {
    const at = setUp()
    expect(await at.create()).toEqual({ path: at.target, usedSize: statSync(at.target).blocks * 512 })
    expect(readIso(readFileSync(at.target)).label).toBe('cidata')
    expect(contents(at.target)).toEqual({
      'user-data': userData,
      'meta-data': 'instance-id: web-seed-3\nlocal-hostname: seed\n',
    })
  })

  it('has all that was declared', async () => {
    const at = setUp()
    await at.create({ userData, metaData: 'instance-id: i-1\n', networkConfig: 'version: 2\n', vendorData: '' })
    expect(contents(at.target)).toEqual({
      'user-data': userData,
      'meta-data': 'instance-id: i-1\n',
      'network-config': 'version: 2\n',
      'vendor-data': '',
    })
  })

  it('is for its owner alone', async () => {
    const at = setUp()
    await at.create()
    expect(statSync(at.target).mode & 0o777).toBe(0o600)
  })

  it('is the same for the same config, byte for byte', async () => {
    const at = setUp()
    await at.create()
    const first = readFileSync(at.target)
    await cloudInitKind.destroy(at.target, kindContext())
    await at.create()
    expect(readFileSync(at.target).equals(first)).toBe(true)
  })

  it('takes files of 16 MiB and refuses larger ones with both numbers', async () => {
    const at = setUp()
    const most = 16 * 2 ** 20
    await expect(at.create({ userData: `${'x'.repeat(most - 1)}é` })).rejects.toMatchObject({
      code: 'volume.cloud-init-too-large',
      message: expect.stringMatching(/\b16777217\b.*\b16777216\b/),
    })
    expect(at.left()).toEqual([])
    await at.create({ userData: 'x'.repeat(most) })
    expect(contents(at.target)['user-data']).toHaveLength(most)
  })

  it('needs its data', async () => {
    const at = setUp()
    const request = aRequest(at.target, { config: { origin: 'cloud-init', format: 'iso' } })
    await expect(cloudInitKind.create(request, kindContext())).rejects.toMatchObject({
      code: 'volume.cloud-init-required',
    })
  })

  it('is not overwritten, and leaves nothing when any change fails', async () => {
    const at = setUp()
    const counting = faultyFiles(realFiles)
    await at.create(undefined, kindContext({ files: counting }))
    await expect(at.create()).rejects.toMatchObject({ code: 'volume.exists' })
    await cloudInitKind.destroy(at.target, kindContext())
    for (let failAt = 1; failAt <= counting.calls; failAt++) {
      const files = faultyFiles(realFiles, { failAt, code: 'ENOSPC' })
      const creating = at.create(undefined, kindContext({ files }))
      await expect(creating).rejects.toMatchObject({ code: 'content.no-space' })
      await expect(creating).rejects.not.toThrow(/hostname/)
    }
    expect(at.left()).toEqual([])
  })

  it('stays as it is when its maximum is raised', async () => {
    const at = setUp()
    const created = await at.create()
    const before = readFileSync(at.target)
    expect(await cloudInitKind.grow(aRequest(at.target, { config: { maxSize: 2 ** 30 } }), kindContext())).toEqual(
      created,
    )
    expect(readFileSync(at.target).equals(before)).toBe(true)
  })
})
