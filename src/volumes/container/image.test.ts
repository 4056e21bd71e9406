import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ContentStatus, Sha256 } from '../../content/messages.ts'
import { readImage } from './image.ts'
import { type FakeImage, writeBlob, writeImage } from './images.fake.ts'
import { imageName } from './runtime.ts'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cairn-image-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const aLayer = { tar: [{ name: 'a', content: 'a' }] }
const another = { tar: [{ name: 'b', content: 'b' }] }
const write = (image: FakeImage) => writeImage(base, image).content
const pathIn = (content: ContentStatus) => (sha256: Sha256) => content.blobs.find(blob => blob.sha256 === sha256)!.path!
const read = (content: ContentStatus) => readImage(content, sha256 => readFileSync(pathIn(content)(sha256)))

describe('reading an image', () => {
  it('lists its layers in their order, one that stands there twice too', async () => {
    const content = write({ layers: [aLayer, another, aLayer] })
    const { layers } = await read(content)
    expect(layers.map(({ sha256 }) => sha256)).toEqual([layers[0]!.sha256, layers[1]!.sha256, layers[0]!.sha256])
    expect(layers[0]!.diffId).not.toBe(layers[1]!.diffId)
  })

  it.each([
    [true, 'index'],
    [false, 'manifest'],
  ])('calls it by its root (in an index: %s)', async (inIndex, role) => {
    const content = write({ layers: [aLayer], inIndex })
    const { root, manifest } = await read(content)
    expect(root.sha256).toBe(content.sha256)
    expect(content.blobs[0]!.role).toBe(role)
    expect(root.size).toBe(readFileSync(pathIn(content)(root.sha256)).length)
    expect(manifest.sha256 === root.sha256).toBe(!inIndex)
  })

  it('refuses a single file', async () => {
    await expect(read(writeBlob(join(base, 'disk'), 'disk'))).rejects.toMatchObject({ code: 'image.not-a-container' })
  })

  it('refuses bytes that are not those of their digest', async () => {
    const content = write({ layers: [aLayer] })
    const config = content.blobs.find(({ role }) => role === 'config')!
    const changed = readImage(content, sha256 =>
      sha256 === config.sha256 ? Buffer.from('{}') : readFileSync(pathIn(content)(sha256)),
    )
    await expect(changed).rejects.toMatchObject({ code: 'image.invalid' })
  })

  it('refuses a config that names more layers than the manifest has', async () => {
    const content = write({ layers: [aLayer], inventedDiffIds: [`sha256:${'1'.repeat(64)}`] })
    await expect(read(content)).rejects.toMatchObject({ code: 'image.invalid' })
  })

  it('refuses a config that names its layers otherwise than by their digest', async () => {
    const content = write({ layers: [{ ...aLayer, diffId: '../../etc' }] })
    await expect(read(content)).rejects.toMatchObject({ code: 'image.not-a-container' })
  })
})

describe('the name of an image in a runtime', () => {
  it('has the digest in it, so that two images of one tag are two', () => {
    const [one, other] = [write({ layers: [aLayer] }), write({ layers: [another] })]
    expect(one.name).toBe(other.name)
    expect(imageName(one)).not.toBe(imageName(other))
    expect(imageName({ ...one, name: imageName(one) })).toBe(imageName(one))
  })
})
