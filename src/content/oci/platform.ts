// Which manifest of an index is for a machine. Names are those of Go (amd64, arm64, arm/v7), as images spell them; a machine
// also runs older variants of its architecture, the newest of them first, and never another architecture.
import type { Platform } from '../messages.ts'
import type { Descriptor } from './manifest.ts'

/** `none` lists the platforms that the index has instead. An index of one manifest that names no platform is for all. */
export function choosePlatform(
  index: { readonly manifests: readonly Descriptor[] },
  platform: Platform,
): Descriptor | { readonly none: readonly string[] } {
  const images = index.manifests.filter(({ annotations }) => !('vnd.docker.reference.type' in annotations))
  const wanted = normalPlatform(platform)
  for (const variant of variantsThatRun(wanted)) {
    const chosen = images.find(
      image => image.platform && isSame(normalPlatform(image.platform), { ...wanted, variant }),
    )
    if (chosen) return chosen
  }
  const [only, ...others] = images
  if (only && !only.platform && others.length === 0) return only
  return { none: images.map(image => (image.platform ? spellPlatform(image.platform) : 'no platform named')) }
}

/** Of the machine that this process runs on. */
export function thisPlatform(): Platform {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const architecture = goArchitectures[process.arch] ?? process.arch
  // Node states the ARM version it was built for, which the machine has at least.
  const { arm_version } = process.config.variables as { arm_version?: string }
  return architecture === 'arm' ? { os, architecture, variant: `v${arm_version ?? '7'}` } : { os, architecture }
}

/** `linux/arm/v7`. */
export const spellPlatform = ({ os, architecture, variant }: Platform): string =>
  [os, architecture, ...(variant ? [variant] : [])].join('/')

const goArchitectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }

// Maps, since names come from outside: an architecture called `constructor` is none of these.
const aliases: ReadonlyMap<string, { architecture: string; variant?: string }> = new Map([
  ['x86_64', { architecture: 'amd64' }],
  ['x86-64', { architecture: 'amd64' }],
  ['i386', { architecture: '386' }],
  ['i686', { architecture: '386' }],
  ['aarch64', { architecture: 'arm64' }],
  ['armhf', { architecture: 'arm', variant: 'v7' }],
  ['armel', { architecture: 'arm', variant: 'v6' }],
])

const variants: ReadonlyMap<string, { oldest: number; usual: number }> = new Map([
  ['amd64', { oldest: 1, usual: 1 }],
  ['arm64', { oldest: 8, usual: 8 }],
  ['arm', { oldest: 5, usual: 7 }],
])

/** Lower case, Go's names, and the variant that is meant where none is said. */
function normalPlatform({ os, architecture, variant }: Platform): Platform {
  const written = architecture.toLowerCase()
  const known = aliases.get(written) ?? { architecture: written }
  const usual = variants.get(known.architecture)?.usual
  const said = variant?.toLowerCase() || known.variant || (usual === undefined ? '' : `v${usual}`)
  return {
    os: os.toLowerCase(),
    architecture: known.architecture,
    ...(said && { variant: said.replace(/^(?=\d)/, 'v') }),
  }
}

function variantsThatRun({ architecture, variant }: Platform): (string | undefined)[] {
  const oldest = variants.get(architecture)?.oldest
  const own = Number(/^v(\d{1,2})$/.exec(variant ?? '')?.[1])
  if (oldest === undefined || !(own >= oldest)) return [variant]
  return Array.from({ length: own - oldest + 1 }, (_, older) => `v${own - older}`)
}

const isSame = (one: Platform, other: { os: string; architecture: string; variant: string | undefined }): boolean =>
  one.os === other.os && one.architecture === other.architecture && one.variant === other.variant
