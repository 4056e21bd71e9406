// Takes the name of an image apart: `registry.example:5000/team/app:1.2`. Without a host it is one of docker.io, there
// without a team one of `library`, as everyone who used Docker expects. No reason repeats the text: it may hold a password.
import { isIPv6 } from 'node:net'
import type { Problem } from '../../lib/problem.ts'

export interface RegistryName {
  /** With its port, in lower case. */
  readonly host: string
  readonly repository: string
  readonly tag: string | undefined
}

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const componentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const labelPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** The problems are all that are wrong with it. */
export function parseRegistryName(text: string): {
  readonly name: RegistryName
  readonly problems: readonly Problem[]
} {
  const { host, path } = splitHost(text)
  const [repository = '', ...tags] = path.split(':')
  const tag = tags.length > 0 ? tags.join(':') : undefined

  const problems: Problem[] = []
  if (!isHost(host)) problems.push(invalidName('its host is no host name or address with an optional port'))
  if (!isRepository(repository)) problems.push(badRepository(repository))
  if (tag !== undefined && !isTag(tag)) problems.push(badTag())
  const inLibrary = host === 'docker.io' && !repository.includes('/')
  return { name: { host, repository: inLibrary ? `library/${repository}` : repository, tag }, problems }
}

export const isTag = (text: string): boolean => tagPattern.test(text)

export const badTag = (): Problem =>
  invalidName(
    'its tag is empty, too long or has characters that no tag has',
    'A tag has letters, digits, ".", "_" and "-", at most 128 of them.',
  )

/** A first part that could be a host is one: it has a dot or a colon, or is localhost. */
function splitHost(text: string): { host: string; path: string } {
  const slash = text.indexOf('/')
  const first = slash < 0 ? '' : text.slice(0, slash).toLowerCase()
  if (!/[.:]/.test(first) && first !== 'localhost') return { host: 'docker.io', path: text }
  return { host: first === 'index.docker.io' ? 'docker.io' : first, path: text.slice(slash + 1) }
}

function isHost(host: string): boolean {
  const [, name = '', port] = /^(\[.*\]|[^:]*)(?::(\d{1,5}))?$/.exec(host) ?? []
  const isName = name.startsWith('[')
    ? isIPv6(name.slice(1, -1)) && !name.includes('%')
    : name.split('.').every(label => labelPattern.test(label))
  return isName && host.length <= 300 && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535))
}

const isRepository = (text: string): boolean =>
  text.length <= 255 && text.split('/').every(part => componentPattern.test(part))

function badRepository(text: string): Problem {
  if (text === '') return invalidName('it names no repository', form)
  return isRepository(text.toLowerCase())
    ? invalidName('its repository has capital letters', 'Write the repository in lower case.')
    : invalidName('its repository has characters that no repository has, or an empty part', form)
}

const form = 'Write it as registry.example/team/app:tag.'

const invalidName = (reason: string, hint?: string): Problem => ({
  code: 'reference.invalid',
  path: '',
  reason: `this is no name of an image: ${reason}`,
  ...(hint && { hint }),
})
