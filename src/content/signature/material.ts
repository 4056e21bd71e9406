// What was found beside an image and may hold signatures of it: manifests and the blobs they name, verified like any other.
import type { Sha256 } from '../messages.ts'

export interface Material {
  readonly sha256: Sha256
  readonly mediaType: string
  readonly bytes: Buffer
}
