// The blobs of a tree: its root, then the children that the verified manifests name, each digest once.
// Holds: a manifest that refers to itself, or to too much, ends in an error, not in a loop.
import type { BlobStatus, ContentError, Sha256 } from '../../content/messages.ts'
import { type Descriptor, maxDescriptors } from '../../content/oci/manifest.ts'
import { choosePlatform, spellPlatform } from '../../content/oci/platform.ts'
import { isImage } from './keys.ts'
import type { ReadManifest, Tree, Turn, Want } from './model.ts'
import type { Root } from './plan-root.ts'
import type { Failure } from './protocol.ts'
import { readManifest } from './read-manifest.ts'
import { recall } from './trouble.ts'

export interface Walk {
  /** The root first, then children in the order of their manifests. */
  readonly wants: Map<string, Want>
  /** All children are known. */
  readonly isWhole: boolean
  readonly errors: readonly ContentError[]
}

interface Step {
  readonly sha256: Sha256
  readonly want: Want
  readonly depth: number
}

export function walkTree(turn: Turn, tree: Tree, root: Root): Walk {
  const { sources } = tree
  const { name, size } = tree.ref
  const wants = new Map<string, Want>()
  if (root.is === 'resolving') return { wants, isWhole: false, errors: [] }
  if (root.is === 'downloading') {
    wants.set(root.via, { role: 'blob', size, as: 'blob', sources, name })
    return { wants, isWhole: false, errors: [] }
  }
  const via = root.via !== undefined && needsVia(turn, root.sha256) ? root.via : undefined
  const walk = walkDown(turn, tree, { sha256: root.sha256, want: rootWant(tree, root, via), depth: 0 })
  if (via !== undefined) walk.wants.set(via, { role: 'blob', size, as: 'blob', sources, name })
  return walk
}

function rootWant({ ref, sources }: Tree, root: Root & { is: 'known' }, via: string | undefined): Want {
  const { name, mediaType } = ref
  const role = isImage(ref) ? 'manifest' : 'blob'
  return { role, mediaType, hint: root.hint, size: root.size, as: role, sources, name, via }
}

function walkDown(turn: Turn, tree: Tree, root: Step): Walk {
  const wants = new Map<string, Want>()
  const errors: ContentError[] = []
  let isWhole = true
  const queue = [root]
  for (const { sha256, want, depth } of queue) {
    if (wants.has(sha256)) continue
    if (wants.size === maxDescriptors) {
      errors.push(recall(turn, tree, tooMany(tree)))
      break
    }
    if (want.as === 'blob') {
      wants.set(sha256, want)
      continue
    }
    const read = readManifest(turn, sha256, want)
    wants.set(sha256, { ...want, role: roleOf(want, read) })
    if (read?.is === 'read') {
      const children = childrenOf(tree, depth, read)
      if (Array.isArray(children)) queue.push(...children)
      else errors.push(recall(turn, tree, children as Failure))
    } else {
      isWhole = false
      if (read?.is === 'failed') errors.push(read.error)
    }
  }
  return { wants, isWhole: isWhole && errors.length === 0, errors }
}

/** Until the bytes have passed the verifier, the download without a name is where they are. */
function needsVia({ state }: Turn, sha256: Sha256): boolean {
  const blob = state.blobs.get(sha256)
  return blob?.state !== 'verified' && !blob?.viaLost
}

function childrenOf(
  { ref, sources }: Tree,
  depth: number,
  { parsed }: ReadManifest & { is: 'read' },
): Step[] | Failure {
  const { name, platform } = ref
  if (!parsed.ok) return { code: parsed.code, text: `${name}: ${parsed.reason}` }
  if (parsed.kind === 'manifest') {
    const leaf = (role: BlobStatus['role'], { sha256, mediaType, size }: Descriptor): Step => ({
      sha256,
      want: { role, mediaType, size, as: 'blob', sources, name },
      depth: depth + 1,
    })
    return [leaf('config', parsed.config), ...parsed.layers.map(layer => leaf('layer', layer))]
  }
  if (depth > 0) return { code: 'content.nested-index', text: `${name}: the index lists another index` }
  const chosen = choosePlatform(parsed, platform)
  if ('none' in chosen) {
    const there = chosen.none.slice(0, 50).join(', ') || 'nothing'
    return { code: 'content.no-platform', text: `${name} has nothing for ${spellPlatform(platform)}; it has ${there}` }
  }
  const { sha256, mediaType, size } = chosen
  return [{ sha256, want: { role: 'manifest', mediaType, size, as: 'manifest', sources, name }, depth: depth + 1 }]
}

const roleOf = (want: Want, read: ReadManifest | null): Want['role'] =>
  read?.is === 'read' && read.parsed.ok ? read.parsed.kind : want.role

const tooMany = ({ ref }: Tree): Failure => ({
  code: 'content.too-many-blobs',
  text: `${ref.name} has more than ${maxDescriptors} blobs`,
})
