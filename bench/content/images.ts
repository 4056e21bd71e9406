// The images of the benchmark, made once and pushed to a real registry on loopback.
import { makeImage, ownPlatform, randomLayer } from '../../test/content/image.ts'
import { pushImage, type RealRegistry, startRegistry } from '../../test/content/registry.ts'

export interface BenchImage {
  /** For tables. */
  readonly title: string
  /** `127.0.0.1:port/name:1`. */
  readonly reference: string
  readonly bytes: number
  readonly files: number
}

export interface Images {
  readonly registry: RealRegistry
  readonly large: BenchImage
  readonly small: BenchImage
}

interface Plan {
  readonly name: string
  readonly layers: number
  /** Of all layers. */
  readonly bytes: number
  readonly filesEach: number
}

export async function makeImages(quick: boolean): Promise<Images> {
  const registry = await startRegistry()
  const large = { name: 'large', layers: quick ? 3 : 24, bytes: (quick ? 8 : 256) * 2 ** 20, filesEach: 4 }
  const small = { name: 'small', layers: quick ? 2 : 8, bytes: (quick ? 1 : 32) * 2 ** 20, filesEach: 2000 }
  return { registry, large: await push(registry, large), small: await push(registry, small) }
}

async function push(registry: RealRegistry, { name, layers, bytes, filesEach }: Plan): Promise<BenchImage> {
  const made = Array.from({ length: layers }, (_, layer) =>
    randomLayer({ seed: name.length * 1000 + layer, bytes: Math.floor(bytes / layers), files: filesEach }),
  )
  const image = await makeImage({ platforms: { [ownPlatform]: made } })
  await pushImage(registry, image, { repository: name, tag: '1' })
  const files = layers * filesEach
  return {
    title: `${bytes / 2 ** 20} MiB in ${layers} layers, ${files.toLocaleString('en')} files`,
    reference: `${registry.host}/${name}:1`,
    bytes: image.blobs.values().reduce((sum, blob) => sum + blob.length, 0),
    files,
  }
}
