import { describe, expect, it } from 'vitest'
import type { Platform, Sha256 } from '../messages.ts'
import type { Descriptor } from './manifest.ts'
import { choosePlatform, spellPlatform, thisPlatform } from './platform.ts'

const entry = (platform: string | null, annotations: Record<string, string> = {}): Descriptor => ({
  mediaType: 'application/vnd.oci.image.manifest.v1+json',
  sha256: '0'.repeat(64) as Sha256,
  size: 1,
  annotations,
  ...(platform !== null && { platform: platformOf(platform) }),
})

function platformOf(text: string): Platform {
  const [os = '', architecture = '', variant] = text.split('/')
  return variant ? { os, architecture, variant } : { os, architecture }
}

function chosen(machine: string, ...offered: (string | null)[]): string | readonly string[] {
  const choice = choosePlatform({ manifests: offered.map(platform => entry(platform)) }, platformOf(machine))
  return 'none' in choice ? choice.none : choice.platform ? spellPlatform(choice.platform) : 'the only one'
}

describe('choosePlatform', () => {
  it.each([
    ['linux/amd64', 'linux/amd64', ['linux/arm64', 'linux/amd64', 'linux/386']],
    ['linux/arm64', 'linux/arm64/v8', ['linux/arm/v7', 'linux/arm64/v8']],
    ['linux/arm64/v8', 'linux/arm64', ['linux/amd64', 'linux/arm64']],
    ['linux/arm64/v9', 'linux/arm64', ['linux/arm/v7', 'linux/arm64']],
    ['linux/arm/v7', 'linux/arm/v7', ['linux/arm/v5', 'linux/arm/v6', 'linux/arm/v7']],
    ['linux/arm/v7', 'linux/arm/v6', ['linux/arm/v5', 'linux/arm/v6', 'linux/arm/v8']],
    ['linux/arm', 'linux/arm/v7', ['linux/arm/v6', 'linux/arm/v7']],
    ['linux/arm/v7', 'linux/arm', ['linux/arm/v6', 'linux/arm']],
    ['linux/amd64/v3', 'linux/amd64/v2', ['linux/amd64', 'linux/amd64/v2', 'linux/amd64/v4']],
    ['linux/x86_64', 'linux/amd64', ['linux/amd64']],
    ['linux/amd64', 'linux/x86_64', ['linux/x86_64']],
    ['linux/aarch64', 'linux/arm64', ['linux/arm64']],
    ['linux/riscv64', 'linux/riscv64', ['linux/amd64', 'linux/riscv64']],
    ['linux/amd64', 'the only one', [null]],
  ])('gives a machine %s the image %s', (machine, image, offered) => {
    expect(chosen(machine, ...offered)).toBe(image)
  })

  it.each([
    ['another architecture', 'linux/arm64', ['linux/amd64', 'linux/arm/v7']],
    ['another system', 'linux/amd64', ['windows/amd64']],
    ['a newer variant', 'linux/arm/v6', ['linux/arm/v7']],
    ['a variant it does not know', 'linux/amd64', ['linux/amd64/fast']],
  ])('gives no image for %s, and tells what there is', (_, machine, offered) => {
    expect(chosen(machine, ...offered)).toEqual(offered)
  })

  it('takes the first of equal ones', () => {
    const [first, second] = [entry('linux/amd64', { n: '1' }), entry('linux/amd64', { n: '2' })]
    expect(choosePlatform({ manifests: [first, second] }, platformOf('linux/amd64'))).toBe(first)
  })

  it('passes over attestations, which stand in an index like images', () => {
    const attestation = entry('linux/amd64', { 'vnd.docker.reference.type': 'attestation-manifest' })
    const image = entry('linux/amd64')
    expect(choosePlatform({ manifests: [attestation, image] }, platformOf('linux/amd64'))).toBe(image)
    expect(choosePlatform({ manifests: [attestation] }, platformOf('linux/amd64'))).toEqual({ none: [] })
  })

  it('guesses nothing among several that name no platform', () => {
    expect(chosen('linux/amd64', null, null)).toEqual(['no platform named', 'no platform named'])
  })
})

it('knows the machine by the names that images use', () => {
  expect(spellPlatform(thisPlatform())).toMatch(/^linux\/(amd64|arm64|arm\/v\d|386|ppc64le|s390x|riscv64|loong64)$/)
})
