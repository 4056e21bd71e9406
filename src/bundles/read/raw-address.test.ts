import { describe, expect, it } from 'vitest'
import { rawAddress } from './raw-address.ts'

describe('the raw address', () => {
  it.each([
    ['https://github.com/o/r/blob/main/dir/a.yaml?plain=1#L3', 'https://raw.githubusercontent.com/o/r/main/dir/a.yaml'],
    ['https://github.com/o/r/raw/v1/a.yaml', 'https://raw.githubusercontent.com/o/r/v1/a.yaml'],
    ['https://gist.github.com/o/0123abcd', 'https://gist.githubusercontent.com/o/0123abcd/raw'],
    ['https://gitlab.com/g/s/r/-/blob/main/a%20b.yaml', 'https://gitlab.com/g/s/r/-/raw/main/a%20b.yaml'],
    ['https://git.example:8443/g/r/-/blob/main/a.yaml', 'https://git.example:8443/g/r/-/raw/main/a.yaml'],
    ['https://bitbucket.org/o/r/src/0123abc/a.yaml', 'https://bitbucket.org/o/r/raw/0123abc/a.yaml'],
    ['https://codeberg.org/o/r/src/branch/main/a.yaml', 'https://codeberg.org/o/r/raw/branch/main/a.yaml'],
    ['https://gitea.example/o/r/src/commit/0123/a.yaml', 'https://gitea.example/o/r/raw/commit/0123/a.yaml'],
  ])('of the page %s is %s', (page, raw) => {
    expect(rawAddress(new URL(page)).href).toBe(raw)
  })

  it.each([
    'https://raw.githubusercontent.com/o/r/main/a.yaml',
    'https://example.com/o/r/blob/main/a.yaml?x=1',
    'https://example.com/o/r/src/a.yaml',
    'https://github.com/o/r',
    'https://github.com.evil.example/o/r/blob/main/a.yaml',
  ])('of anything else is itself: %s', url => {
    expect(rawAddress(new URL(url)).href).toBe(url)
  })
})
