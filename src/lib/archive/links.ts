// Where a symbolic link leads inside a tree that is known by its links only. Decides by names; follows nothing on disk.

export interface LinkTree {
  /** The text of the link at this path; undefined when there is none. */
  textAt(path: string): string | undefined
  /** An absolute link may stand at the end of a way, never in the middle of one. */
  readonly allowAbsolute: boolean
}

export type LinkFault = 'leads out of the package' | 'is absolute' | 'leads in a circle'

/** As many as the kernel follows. */
const mostLinks = 40

/** Null when it stays inside; what it leads to need not exist. */
export function linkFault(path: string, text: string, tree: LinkTree): LinkFault | null {
  const reached = path.split('/').slice(0, -1)
  const ahead = text.split('/').reverse()
  if (text.startsWith('/')) return tree.allowAbsolute ? null : 'is absolute'
  for (let links = 0; ahead.length > 0; ) {
    const part = ahead.pop() as string
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (reached.pop() === undefined) return 'leads out of the package'
      continue
    }
    reached.push(part)
    const next = tree.textAt(reached.join('/'))
    if (next === undefined) continue
    if (++links > mostLinks) return 'leads in a circle'
    if (next.startsWith('/')) return ahead.length === 0 && tree.allowAbsolute ? null : 'leads out of the package'
    reached.pop()
    ahead.push(...next.split('/').reverse())
  }
  return null
}
