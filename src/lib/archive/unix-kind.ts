// What the kind bits of a Unix mode say, as zip and cpio carry them.

export type UnixKind = 'file' | 'directory' | 'link' | 'character device' | 'block device' | 'fifo' | 'special file'

export function unixKind(mode: number): UnixKind {
  switch (mode & 0o170000) {
    case 0o100000:
      return 'file'
    case 0o040000:
      return 'directory'
    case 0o120000:
      return 'link'
    case 0o020000:
      return 'character device'
    case 0o060000:
      return 'block device'
    case 0o010000:
      return 'fifo'
    default:
      return 'special file'
  }
}

export const ownerMayExecute = (mode: number) => (mode & 0o100) !== 0
