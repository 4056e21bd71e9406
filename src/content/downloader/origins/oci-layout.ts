// Directories in the OCI image layout, as they come on a stick: index.json names the tags, blobs/sha256 holds the rest.
import { join } from 'node:path'
import type { Files } from '../../../lib/files.ts'
import type { Sha256 } from '../../messages.ts'
import type { Opened, OpenRequest } from '../origin.ts'
import { type Descriptor, type Found, mostManifestBytes, parseIndex, withoutRepeats } from './descriptors.ts'
import { digestRequired, notContent, notFound, tagAmbiguous, tooLarge } from './failures.ts'
import { openFile } from './file.ts'

export async function openLayout(directory: string, request: OpenRequest, files: Files): Promise<Opened> {
  if (request.sha256 === undefined) throw digestRequired(directory)
  return openFile(blobPath(directory, request.sha256), request, files)
}

export async function resolveLayoutTag(
  directory: string,
  tag: string,
  signal: AbortSignal,
  files: Files,
): Promise<Found> {
  const [first, ...others] = tagged(await readIndex(join(directory, 'index.json'), signal, files), tag)
  if (!first) throw notFound(`${directory}:${tag}`)
  if (others.length > 0) throw tagAmbiguous(directory, tag)
  return first
}

/** A layout has no referrers of its own; the tags that stand in for them in registries come along when images are copied. */
export async function findLayoutReferrers(
  directory: string,
  sha256: Sha256,
  signal: AbortSignal,
  files: Files,
): Promise<Found[]> {
  const index = await readIndex(join(directory, 'index.json'), signal, files)
  const lists = await Promise.all(
    tagged(index, `sha256-${sha256}`).map(list => readIndex(blobPath(directory, list.sha256), signal, files)),
  )
  return withoutRepeats([...lists, tagged(index, `sha256-${sha256}.sig`)])
}

const tagged = (index: readonly Descriptor[], tag: string): Found[] =>
  withoutRepeats([index.filter(({ annotations }) => annotations['org.opencontainers.image.ref.name'] === tag)])

const blobPath = (directory: string, sha256: Sha256) => join(directory, 'blobs/sha256', sha256)

async function readIndex(path: string, signal: AbortSignal, files: Files): Promise<Descriptor[]> {
  const { total, body, close } = await openFile(path, { ...asFile(path), signal }, files)
  try {
    if (total !== null && total > mostManifestBytes) throw tooLarge(path, mostManifestBytes)
    const index = parseIndex(Buffer.concat(await Array.fromAsync(body)))
    if (!index) throw notContent(path, 'no image index')
    return index
  } finally {
    close()
  }
}

const asFile = (path: string) => ({ source: { kind: 'file', path }, as: 'blob', from: 0 }) as const
