// Where a path of an image leads when the links on its way are followed as the container will follow them: an absolute link
// starts again at the root of the image. Decides by names; nothing on disk is followed.
import { linkCircle, linkLeadsOut } from './refusals.ts'

/** As many as the kernel follows. */
const mostLinks = 40

/** `textAt` gives the text of the link at a path. `entry` is the one at which a refusal points. */
export function followLinks(
  parts: readonly string[],
  textAt: (path: string) => string | undefined,
  entry: string,
): string {
  const reached: string[] = []
  const ahead = parts.toReversed()
  let link = ''
  for (let followed = 0; ahead.length > 0; ) {
    const part = ahead.pop()!
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (reached.pop() === undefined) throw linkLeadsOut(entry, link)
      continue
    }
    reached.push(part)
    const text = textAt(reached.join('/'))
    if (text === undefined) continue
    link = reached.join('/')
    if (++followed > mostLinks) throw linkCircle(entry, link)
    reached.pop()
    if (text.startsWith('/')) reached.length = 0
    ahead.push(...text.split('/').reverse())
  }
  return reached.join('/')
}
