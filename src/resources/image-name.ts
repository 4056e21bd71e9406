// The name of an image, by the grammar of the OCI distribution: `registry.example:5000/team/app:1.2@sha256:…`.
import * as z from 'zod'
import type { BrokenRule } from './kind.ts'

export interface ImageParts {
  readonly name: string
  readonly tag?: string
  readonly digest?: string
}

const tagText = '[A-Za-z0-9_][A-Za-z0-9._-]{0,127}'
const digestText = 'sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}'
const hostText =
  '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[0-9A-Fa-f:]+\\]'
const partText = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*'
const imagePattern = new RegExp(
  `^((?:(?:${hostText})(?::\\d{1,5})?/)?${partText}(?:/${partText})*)(?::(${tagText}))?(?:@(${digestText}))?$`,
)

export function imageParts(text: string): ImageParts | null {
  const [whole, name = '', tag, digest] = (text.length <= 512 && imagePattern.exec(text)) || []
  return whole === undefined ? null : { name, ...(tag && { tag }), ...(digest && { digest }) }
}

/** One image, as CachedImage and the entries of a CachedImageSet have it. */
export const imageFields = {
  image: z
    .string()
    .min(1)
    .refine(
      text => text === '' || imageParts(text) !== null,
      'is not the name of an image such as registry.example/team/app',
    )
    .describe('Name of the image; a tag or digest may stand in it when neither is given beside it.'),
  tag: z
    .string()
    .regex(new RegExp(`^${tagText}$`), 'is not a tag: letters, digits, ".", "_" and "-", at most 128')
    .optional()
    .describe('Default `latest`, without a digest.'),
  digest: z
    .string()
    .regex(new RegExp(`^(?:${digestText})$`), 'is not a digest: sha256: and 64 hex digits')
    .optional()
    .describe('Instead of a tag.'),
}

/** A tag or a digest, and at one place only. */
export function imageRules(
  {
    image,
    tag,
    digest,
  }: { readonly image?: string | undefined; readonly tag?: string | undefined; readonly digest?: string | undefined },
  path: BrokenRule['path'] = [],
): BrokenRule[] {
  const inside = image === undefined ? null : imageParts(image)
  const broken: BrokenRule[] = []
  if (tag !== undefined && digest !== undefined)
    broken.push(conflict([...path, 'tag'], 'tag and digest exclude each other', 'Keep the digest alone.'))
  for (const [field, given] of Object.entries({ tag, digest }))
    if (given !== undefined && (inside?.tag || inside?.digest))
      broken.push(
        conflict([...path, field], `image already holds a tag or digest`, `Leave ${field} out, or shorten image.`),
      )
  return broken
}

const conflict = (path: BrokenRule['path'], reason: string, hint: string): BrokenRule => ({
  code: 'value.conflict',
  path,
  reason,
  hint,
})
