// A unit says what its machine sees (/cairn/states/…, /etc/web/greeting); its process finds that below the root. Every
// place in a command or a variable where such a path begins is put below it: at the start, after = : , and inside quotes.
import type { Layout } from '../../layout.ts'

export type FindPaths = (text: string) => string

export function pathsBelow({ prefix, store }: Pick<Layout, 'prefix' | 'store'>): FindPaths {
  const seen = new RegExp(`(^|[\\s=:,;"'(<>])((?:${RegExp.escape(store)}|/etc)(?=[\\s/:,;"')]|$))`, 'g')
  return text => text.replace(seen, (_, before: string, path: string) => `${before}${prefix}${path}`)
}
