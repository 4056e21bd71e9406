// Sources that are elsewhere: their bytes come through the content door, verified, and are held until the package is valid.
import { ContentFailure } from '../../content/ask.ts'
import { contentRefOf } from '../../content/content-ref.ts'
import type { ContentRef, ContentStatus } from '../../content/messages.ts'
import { type Checksum, spellChecksum } from '../../lib/checksum.ts'
import { ProblemsError } from '../../lib/errors.ts'
import { hashFile } from '../../lib/hash-file.ts'
import { type Json, sha256Hex } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Sha256 } from '../names.ts'
import type { BuildContext, BuildResult } from './package.ts'
import { checksumMismatch, unpinned, uriInvalid } from './problems.ts'
import type { SourceFields } from './source.ts'

/** Null when there is none to go on with; a missing checksum is told here as well. */
export function contentRefOfSource(fields: SourceFields, kinds: readonly ContentRef['sources'][number]['kind'][]) {
  const { source, declaredAt, requireChecksums, problems, warnings, baseDirectory, checksum } = fields
  const ref = contentRefOf({ text: source.uri ?? '', baseDirectory, sha256: pinnedBy(checksum) })
  const isPinned = source.checksum !== undefined || (!Array.isArray(ref) && ref.sha256 !== undefined)
  if (!isPinned) (requireChecksums ? problems : warnings).push(unpinned(declaredAt))
  if (source.uri === undefined) return null
  if (!Array.isArray(ref) && kinds.includes(ref.sources[0]!.kind) && isWhole(source)) return ref
  const reasons = Array.isArray(ref) ? ref : [{ reason: `a source of type ${source.type} cannot be had from this` }]
  problems.push(...reasons.map(({ reason }) => uriInvalid(declaredAt, source.type, reason)))
  return null
}

/** Without a checksum the address is what there is; its hash stands for the parts that may be secret. */
export function identityOf({ checksum }: SourceFields, ref: ContentRef): { readonly [key: string]: Json } {
  if (checksum) return { checksum: spellChecksum(checksum) }
  // As part of an image's name.
  if (ref.sha256) return { checksum: `sha256:${ref.sha256}` }
  return { uri: ref.name, uriSha256: sha256Hex(JSON.stringify(ref.sources)) }
}

export async function withContent(
  { name, config, checksum, declaredAt }: SourceFields,
  ref: ContentRef,
  { files, content, progress, signal }: BuildContext,
  use: (status: ContentStatus) => Promise<void>,
): Promise<BuildResult> {
  const label = `${name} ${config.version}`
  const held = await content.fetch({ scope: 'packages', ref, progress, signal, label }).catch(error => {
    throw error instanceof ContentFailure && !isOfMachine(error)
      ? new ProblemsError([problemOf(error, declaredAt)])
      : error
  })
  try {
    const { status } = held
    const path = status.blobs[0]!.path!
    // The verifier knows SHA-256; a checksum of another algorithm is looked at here, before anything is unpacked.
    if (checksum && !pinnedBy(checksum)) {
      const got = hashFile(files, path, checksum.algorithm)
      if (!checksum.digests.includes(got))
        throw new ProblemsError([checksumMismatch(declaredAt, ref.name, checksum, got)])
    }
    await use(status)
    return { sourceSha256: status.sha256 as string as Sha256, release: held.release }
  } catch (error) {
    held.release()
    throw error
  }
}

const pinnedBy = (checksum: Checksum | undefined): string | undefined =>
  checksum?.algorithm === 'sha256' && checksum.digests.length === 1 ? checksum.digests[0] : undefined

/** A path is for the source type `file`; an address has a scheme. */
const isWhole = ({ type, uri = '' }: SourceFields['source']) => type === 'oci' || /^[a-z]+:\/\//i.test(uri)

/** No change of the config would mend it. */
const isOfMachine = ({ code }: ContentFailure): boolean =>
  /^content\.(no-space|(latch|read|verify|write)-failed|verify-crash|pending-missing|unsafe-file)$/.test(code)

function problemOf({ code, message, hint }: ContentFailure, declaredAt: string): Problem {
  const isDigest = code === 'content.digest-mismatch'
  return {
    code: isDigest ? 'source.checksum-mismatch' : code,
    path: `${declaredAt}.source.${isDigest ? 'checksum' : 'uri'}`,
    reason: message,
    ...(hint !== undefined && { hint }),
  }
}
