// A file in verified/, and what shows that it was not touched since it was hashed last.
import type { Stats } from 'node:fs'

export interface VerifiedFile {
  readonly path: string
  readonly mediaType: string
  readonly mark: FileMark
  /** When all its bytes were last hashed; absent when that was never seen. */
  readonly checkedAt?: string | undefined
}

export interface FileMark {
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
}

export const markOf = ({ size, mtimeMs, ino }: Stats): FileMark => ({ size, mtimeMs, ino })

export const sameMark = (a: FileMark, b: FileMark): boolean =>
  a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino
