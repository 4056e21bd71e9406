// Why a layer is not unpacked, in the words of images; the codes are those of every archive.
import { ArchiveRefusal, quoted } from '../../../lib/archive/refusals.ts'

export const outside = (entry: string) =>
  new ArchiveRefusal('archive.traversal', `the entry ${quoted(entry)} would be written outside the image`)

export const linkLeadsOut = (entry: string, link: string) =>
  new ArchiveRefusal(
    'archive.link-escape',
    `the entry ${quoted(entry)} lies behind the link ${quoted(link)}, which leads out of the image`,
  )

export const linkCircle = (entry: string, link: string) =>
  new ArchiveRefusal(
    'archive.link-escape',
    `the entry ${quoted(entry)} lies behind the link ${quoted(link)}, which leads in a circle`,
  )

export const behindFile = (entry: string, file: string) =>
  new ArchiveRefusal('archive.conflict', `the entry ${quoted(entry)} lies below ${quoted(file)}, which is no directory`)

export const device = (entry: string, what: string) =>
  new ArchiveRefusal(
    'archive.special-file',
    `the entry ${quoted(entry)} is a ${what}, which only a container runtime can make`,
    'Install containerd, or use an image without it; a container gets a /dev of its own.',
  )

export const unsupportedEntry = (entry: string) =>
  new ArchiveRefusal('archive.unsupported', `the entry ${quoted(entry)} is sparse or of a kind that only backups have`)
