// Disks as others see them: qemu reads, checks and writes what was grown; real file systems share blocks and run full.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../../src/lib/run.ts'
import { blankKind } from '../../src/volumes/kinds/blank.ts'
import { aRequest, kindContext, sparseFile, verifiedFile } from '../../src/volumes/kinds/context.fake.ts'
import { diskKind } from '../../src/volumes/kinds/disk.ts'
import { describeWith } from '../require.ts'
import { mountForTest, output, volumesPlace } from './tools.ts'

const mib = 2 ** 20
const gib = 2 ** 30

describeWith(['qemu-img'], 'a grown qcow2 disk', () => {
  it.each([
    ['of 64 KiB clusters', [], 16 * 1024 * gib],
    ['of version 2', ['compat=0.10'], 16 * 1024 * gib],
    ['of 512 byte clusters', ['cluster_size=512'], 20 * gib],
    ['with one bit a count', ['cluster_size=512', 'refcount_bits=1'], gib],
    ['with 64 bits a count', ['cluster_size=512', 'refcount_bits=64'], 20 * gib],
    ['with extended L2 entries', ['cluster_size=16k', 'extended_l2=on'], 64 * gib],
    ['compressed with zstd', ['compression_type=zstd'], 16 * 1024 * gib],
    ['in place, within its L1 table', [], 100 * mib],
  ])('%s is clean, has its size, its old content, and room for new', async (_, options, maxSize) => {
    const at = volumesPlace()
    const [raw, image, disk] = [join(at.path, 'raw'), join(at.path, 'image'), join(at.volumes, 'web+data#0.qcow2')]
    sparseFile(raw, 12 * mib, { 0: randomBytes(mib), [9 * mib]: randomBytes(mib + 3) })
    const compress = options.some(option => option.startsWith('compression')) ? ['-c'] : []
    const layout = options.length > 0 ? ['-o', options.join(',')] : []
    await output('qemu-img', 'convert', '-O', 'qcow2', ...compress, ...layout, raw, image)

    const request = aRequest(disk, { config: { format: 'qcow2', maxSize: 32 * mib }, content: verifiedFile(image) })
    await diskKind.create(request, kindContext())
    expect(await virtualSize(disk)).toBe(32 * mib)
    await diskKind.grow(aRequest(disk, { config: { format: 'qcow2', maxSize } }), kindContext())
    await output('qemu-img', 'check', disk)
    expect(await virtualSize(disk)).toBe(maxSize)
    expect(await output('qemu-img', 'compare', '-F', 'qcow2', '-f', 'raw', raw, disk)).toContain('Images are identical')

    const last = maxSize - 64 * 1024
    await output('qemu-io', '-f', 'qcow2', '-c', `write -P 0x5a ${last} 64k`, disk)
    await output('qemu-img', 'check', disk)
    const read = await output('qemu-io', '-f', 'qcow2', '-c', `read -P 0x5a ${last} 64k`, disk)
    expect(read).not.toContain('Pattern verification failed')
  })

  it('is not made from an image with a backing file, with external data or, when it must grow, with snapshots', async () => {
    const at = volumesPlace()
    const [base, image] = [join(at.path, 'base'), join(at.path, 'image')]
    const create = (maxSize = 0) => {
      const request = aRequest(join(at.volumes, 'web+data#0.qcow2'), {
        config: { format: 'qcow2', maxSize },
        content: verifiedFile(image),
      })
      return diskKind.create(request, kindContext())
    }
    await output('qemu-img', 'create', '-f', 'qcow2', base, '8M')
    await output('qemu-img', 'create', '-f', 'qcow2', '-b', base, '-F', 'qcow2', image)
    await expect(create()).rejects.toMatchObject({ code: 'volume.image-has-backing-file' })
    await output('qemu-img', 'create', '-f', 'qcow2', '-o', `data_file=${base}.data`, image, '8M')
    await expect(create()).rejects.toMatchObject({ code: 'volume.image-has-external-data' })
    await output('qemu-img', 'create', '-f', 'qcow2', image, '8M')
    await output('qemu-img', 'snapshot', '-c', 'before', image)
    await expect(create(gib)).rejects.toMatchObject({ code: 'volume.image-has-snapshots' })
    expect(readdirSync(at.volumes)).toEqual([])
  })
})

async function virtualSize(disk: string): Promise<number> {
  return JSON.parse(await output('qemu-img', 'info', '--output=json', '-f', 'qcow2', disk))['virtual-size']
}

describeWith(['root', 'loop', 'mkfs.btrfs', 'mkfs.xfs'], 'a disk on a file system that can share blocks', () => {
  it.each(['btrfs', 'xfs'])('takes no room of its own on %s, and is its own all the same', async type => {
    const at = volumesPlace()
    const [backing, place] = [join(at.path, 'backing'), join(at.path, type)]
    sparseFile(backing, 512 * mib)
    await output(`mkfs.${type}`, '-q', backing)
    await mountForTest({ type, source: backing, options: 'loop', at: place })
    const [image, disk] = [join(place, 'image'), join(place, 'web+data#0.raw')]
    const bytes = randomBytes(64 * mib)
    writeFileSync(image, bytes, { mode: 0o400 })
    await output('sync', '-f', image)
    const free = () => statfsSync(place).bavail * statfsSync(place).bsize
    const before = free()
    await diskKind.create(
      aRequest(disk, { config: { maxSize: 128 * mib }, content: verifiedFile(image) }),
      kindContext(),
    )
    expect(before - free()).toBeLessThan(8 * mib)
    expect(readFileSync(disk).subarray(0, bytes.length).equals(bytes)).toBe(true)
    expect(statSync(disk)).toMatchObject({ size: 128 * mib, mode: 0o100600 })
    writeFileSync(disk, 'changed by a guest', { flag: 'r+' })
    expect(readFileSync(image).equals(bytes)).toBe(true)
  })
})

describeWith(['root'], 'a disk on a file system that is too small', () => {
  it('leaves nothing and says that there is no room', async () => {
    const at = volumesPlace()
    const place = join(at.path, 'small')
    await mountForTest({ type: 'tmpfs', source: 'none', options: 'size=8m', at: place })
    const image = join(at.path, 'image')
    writeFileSync(image, randomBytes(16 * mib))
    const disk = join(place, 'web+data#0.raw')
    const creating = diskKind.create(aRequest(disk, { content: verifiedFile(image) }), kindContext())
    await expect(creating).rejects.toMatchObject({ code: 'content.no-space' })
    const blank = aRequest(disk, { config: { origin: 'blank', maxSize: 9 * mib } })
    await expect(blankKind.create(blank, kindContext())).rejects.toMatchObject({ code: 'volume.larger-than-disk' })
    expect(readdirSync(place)).toEqual([])
    truncateSync(image, mib)
    await diskKind.create(aRequest(disk, { content: verifiedFile(image) }), kindContext())
  })
})

describeWith(['mkfs.ext4', 'blkid'], 'a blank disk with a file system', () => {
  it('has the one that was asked for, and takes little room', async () => {
    const at = volumesPlace()
    const disk = join(at.volumes, 'web+data#0.raw')
    const mkfs = async (path: string, type: string) => void (await output(`mkfs.${type}`, '-q', path))
    const request = aRequest(disk, { config: { origin: 'blank', maxSize: gib, fileSystem: 'ext4' } })
    const { usedSize } = await blankKind.create(request, kindContext({ mkfs }))
    expect(usedSize).toBeLessThan(64 * mib)
    expect(await output('blkid', '-p', '-o', 'export', disk)).toContain('TYPE=ext4')
  })
})

describeWith(['qemu-img'], 'the kinds of volumes behind the wall', () => {
  it('need nothing that the permission model of Node denies', async () => {
    const at = volumesPlace()
    const image = join(at.path, 'image')
    await output('qemu-img', 'create', '-f', 'qcow2', image, '8M')
    const walls = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${at.volumes}`]
    const script = new URL('./walled-in.ts', import.meta.url)
    const { stdout, stderr } = await run(process.execPath, [...walls, script.pathname, at.volumes, image], {
      timeoutMs: 60_000,
    })
    expect(stdout, stderr).toBe('walled in')
    expect(readdirSync(at.volumes).sort()).toEqual([
      'web+blank#0.raw',
      'web+disk#0.qcow2',
      'web+folder#0',
      'web+seed#0.iso',
    ])
    await output('qemu-img', 'check', join(at.volumes, 'web+disk#0.qcow2'))
  })
})
