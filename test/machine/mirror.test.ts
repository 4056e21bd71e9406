import { expect, it } from 'vitest'
import { mirrorOf } from './mirror.ts'

const osRelease = 'NAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\n'
const list = (text: string) => ({ name: '/etc/apt/sources.list', text })
const sources = (text: string) => ({ name: '/etc/apt/sources.list.d/debian.sources', text })

it('reads one-line sources, with options and comments', () => {
  const text = `
# deb http://old.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] https://debian.example/debian bookworm contrib main
deb http://later.example/debian bookworm main`
  expect(mirrorOf([list(text)], osRelease)).toEqual({ suite: 'bookworm', mirror: 'https://debian.example/debian' })
})

it('reads deb822 sources, with comments, several values and disabled ones', () => {
  const text = `Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb deb-src
# http://snapshot.example/debian
URIs: http://debian.example/debian
Suites:
 bookworm-updates
 bookworm
Components: main contrib
`
  expect(mirrorOf([sources(text)], osRelease)).toEqual({ suite: 'bookworm', mirror: 'http://debian.example/debian' })
})

it('passes over other suites, components and ways of access', () => {
  const text = `
deb cdrom:[Debian]/ bookworm main
deb http://security.example/debian bookworm-security main
deb http://other.example/debian bookworm contrib
deb file:/srv/debian bookworm main`
  expect(mirrorOf([list(text)], osRelease).mirror).toBe('file:/srv/debian')
})

it('says what it looked for when there is nothing', () => {
  expect(() => mirrorOf([list('')], osRelease)).toThrow(/bookworm/)
  expect(() => mirrorOf([list('')], 'NAME=x\n')).toThrow(/VERSION_CODENAME/)
})
