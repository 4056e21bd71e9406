// What a person writes for content: an image of a registry, an address, a file, a directory in the OCI layout. Says
// everything that is wrong at once; neither a name nor a reason ever holds user info, a query or a password.
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unreachable } from '../lib/errors.ts'
import type { Problem } from '../lib/problem.ts'
import { safeUrl } from '../lib/safe-url.ts'
import type { ContentRef, Sha256 } from './messages.ts'
import { badTag, isTag, parseRegistryName } from './oci/registry-name.ts'
import type { Source } from './source.ts'

/** The part of a ContentRef that is in the text. */
export type Reference = Pick<ContentRef, 'name' | 'sources' | 'tag' | 'sha256'>

export interface ReferenceOptions {
  /** Absolute; relative paths start here. */
  readonly baseDirectory: string
  /** Given beside the text, in a flag or a field. */
  readonly sha256?: Sha256 | undefined
}

export function parseReference(text: string, options: ReferenceOptions): Reference | Problem[] {
  const read = parseKind(text.trim(), options)
  if (Array.isArray(read)) return read
  if (read.name.length > 2000) return [invalid('it is longer than 2000 characters')]
  if (read.sha256 && options.sha256 && read.sha256 !== options.sha256) return [conflictingDigests()]
  const sha256 = read.sha256 ?? options.sha256
  return { ...read, ...(sha256 && { sha256 }) }
}

/** With or without `sha256:`, in either case. */
export function parseDigest(text: string): Sha256 | Problem {
  const [, algorithm = 'sha256', encoded = ''] = /^(?:([^:]*):)?(.*)$/s.exec(text.trim()) ?? []
  const hex = encoded.toLowerCase()
  const isOther = algorithm.toLowerCase() !== 'sha256' || /^(?:[0-9a-f]{96}|[0-9a-f]{128})$/.test(hex)
  if (isOther) return badDigest('digest.unsupported', 'the digest is of another algorithm than SHA-256')
  if (/^[0-9a-f]{64}$/.test(hex)) return hex as Sha256
  return /^[0-9a-f]*$/.test(hex)
    ? badDigest('digest.invalid', `the digest has ${hex.length} hex digits instead of 64`)
    : badDigest('digest.invalid', 'the digest has characters that are no hex digits')
}

/** How Cairn spells a source for people: a full name, an address without what may be secret, a path. */
export function spellReference(
  source: Source,
  { tag, sha256 }: { readonly tag?: string | undefined; readonly sha256?: Sha256 | undefined } = {},
): string {
  const suffix = `${tag ? `:${tag}` : ''}${sha256 ? `@sha256:${sha256}` : ''}`
  switch (source.kind) {
    case 'registry':
      return `${source.host}/${source.repository}${suffix}`
    case 'url':
      return safeUrl(source.url)
    case 'file':
      return source.path
    case 'oci-layout':
      return `oci-layout:${source.path}${suffix}`
    default:
      return unreachable(source)
  }
}

function parseKind(text: string, options: ReferenceOptions): Reference | Problem[] {
  if (text === '' || /[\0-\x1f\x7f]/.test(text)) return [invalid('it is empty or has control characters')]
  if (/^\.{0,2}\//.test(text)) return fileAt(resolve(options.baseDirectory, text))
  const [, scheme, rest = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/.exec(text) ?? []
  switch (scheme?.toLowerCase()) {
    case undefined:
      if (text.startsWith('oci-layout:')) return parseLayout(text.slice('oci-layout:'.length), options)
      return looksLikeFile(text) ? [ambiguous(text)] : parseImage(text, text, options)
    case 'oci':
    case 'docker':
      return parseImage(text, rest, options)
    case 'http':
    case 'https':
      return parseUrl(text, options)
    case 'file':
      return parseFileUrl(text)
    default:
      return [unsupportedScheme()]
  }
}

function parseImage(written: string, text: string, options: ReferenceOptions): Reference | Problem[] {
  const [name, digest, ...more] = text.split('@') as [string, ...string[]]
  if (more.length > 0 || (digest?.includes('/') && !/^sha\d+:/i.test(digest))) return [credentials()]
  const image = parseRegistryName(name)
  const sha256 = digest === undefined ? undefined : parseDigest(digest)
  const problems = [...image.problems, ...(typeof sha256 === 'object' ? [sha256] : [])]
  if (problems.length > 0 || typeof sha256 === 'object') return problems
  const { host, repository, tag } = image.name
  const wanted = tag ?? (sha256 || options.sha256 ? undefined : 'latest')
  return {
    name: written,
    sources: [{ kind: 'registry', host, repository }],
    ...(wanted && { tag: wanted }),
    ...(sha256 && { sha256 }),
  }
}

function parseUrl(text: string, options: ReferenceOptions): Reference | Problem[] {
  const url = URL.parse(text)
  if (!url) return [invalid('the address cannot be read')]
  const problems: Problem[] = []
  if (url.username || url.password) problems.push(credentials())
  if (url.pathname === '/' && !url.search) problems.push(invalid('the address names no file'))
  if (url.protocol === 'http:' && !options.sha256 && !isLoopback(url.hostname)) problems.push(insecure(url))
  if (url.href.length > 8000) problems.push(invalid('the address is longer than 8000 characters'))
  if (problems.length > 0) return problems
  url.hash = ''
  return { name: safeUrl(url), sources: [{ kind: 'url', url: url.href }] }
}

function parseFileUrl(text: string): Reference | Problem[] {
  try {
    return fileAt(fileURLToPath(text))
  } catch {
    return [
      invalid('the file address names no file of this machine', 'Write it as file:///path, or as the path alone.'),
    ]
  }
}

/** `DIRECTORY[:tag][@digest]`; a colon that a slash follows is part of the directory. */
function parseLayout(text: string, { baseDirectory }: ReferenceOptions): Reference | Problem[] {
  const [, directory = '', tag, digest] = /^(.*?)(?::([^:/@]*))?(?:@([^/@]*))?$/.exec(text) ?? []
  const sha256 = digest === undefined ? undefined : parseDigest(digest)
  const problems: Problem[] = []
  if (directory === '')
    problems.push(invalid('it names no directory', 'Write it as oci-layout:DIRECTORY or oci-layout:DIRECTORY:tag.'))
  if (tag !== undefined && !isTag(tag)) problems.push(badTag())
  if (typeof sha256 === 'object') return [...problems, sha256]
  if (problems.length > 0) return problems
  const source: Source = { kind: 'oci-layout', path: resolve(baseDirectory, directory) }
  return {
    name: spellReference(source, { tag, sha256 }),
    sources: [source],
    ...(tag && { tag }),
    ...(sha256 && { sha256 }),
  }
}

// The whole path is its name: the same relative one means another file elsewhere.
const fileAt = (path: string): Reference => ({ name: path, sources: [{ kind: 'file', path }] })

const looksLikeFile = (text: string): boolean =>
  /^[^/:@]+\.(?:raw|img|iso|qcow2|vmdk|vhdx?|tar|tgz|tar\.[a-z0-9]+|zip|gz|xz|zst|deb|rpm)$/i.test(text)

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)

const invalid = (reason: string, hint?: string): Problem => ({
  code: 'reference.invalid',
  path: '',
  reason: `this is no reference to content: ${reason}`,
  ...(hint && { hint }),
})

const badDigest = (code: 'digest.invalid' | 'digest.unsupported', reason: string): Problem => ({
  code,
  path: '',
  reason,
  hint: 'Give it as sha256: and 64 hex digits.',
})

const credentials = (): Problem => ({
  code: 'reference.credentials',
  path: '',
  reason: 'there is a user or a password in it, which would be shown wherever the reference is',
  hint: 'Name the host alone, and give user and password in the datastores of the settings.',
})

const insecure = (url: URL): Problem => ({
  code: 'reference.insecure',
  path: '',
  reason: `${safeUrl(url)} is fetched without encryption, and no digest says what has to come`,
  hint: 'Use https, or give the SHA-256 of the file.',
})

const ambiguous = (text: string): Problem => ({
  code: 'reference.ambiguous',
  path: '',
  reason: `${text} may be a file of this machine or an image of docker.io`,
  hint: `Write ./${text} for the file, docker.io/library/${text} for the image.`,
})

const conflictingDigests = (): Problem => ({
  code: 'digest.conflict',
  path: '',
  reason: 'the digest in the reference and the one given beside it differ',
  hint: 'Leave one of them out.',
})

const unsupportedScheme = (): Problem => ({
  code: 'reference.unsupported',
  path: '',
  reason: 'content cannot be had by this kind of address',
  hint: 'Use the name of an image, oci://, docker://, https://, http://, file:// or oci-layout:DIRECTORY.',
})
