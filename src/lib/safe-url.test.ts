import { expect, it } from 'vitest'
import { safeUrl } from './safe-url.ts'

it.each([
  ['https://user:secret@example.com:8443/a/b?token=secret#secret', 'https://example.com:8443/a/b'],
  ['http://example.com', 'http://example.com/'],
  ['file:///srv/mirror/a.tar?secret', 'file:///srv/mirror/a.tar'],
  ['not a url with a secret', 'an invalid URL'],
])('shows %s without what may be secret', (url, shown) => {
  expect(safeUrl(url)).toBe(shown)
  expect(safeUrl(url)).not.toContain('secret')
})
