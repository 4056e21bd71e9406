// OCI registries: manifests and blobs by digest, tags, and what refers to a digest. The digest that is asked for is the
// authority; what a registry says of types, sizes and digests is a hint.
import type { IncomingMessage } from 'node:http'
import { sha256Hex } from '../../../lib/json.ts'
import type { Sha256 } from '../../messages.ts'
import type { Source } from '../../source.ts'
import { type Opened, type OpenRequest, OriginFailure } from '../origin.ts'
import type { AuthenticatedRequest } from './authentication.ts'
import { lengthOf, readWhole } from './body.ts'
import { type Found, found, mostManifestBytes, parseDigest, parseIndex, withoutRepeats } from './descriptors.ts'
import { addressInvalid, digestInvalid, digestRequired, notContent } from './failures.ts'
import { discard } from './http-client.ts'
import { openHttp, refusePage, type Web } from './open-http.ts'
import type { Followed } from './redirects.ts'
import { statusFailure } from './statuses.ts'

export type RegistrySource = Extract<Source, { kind: 'registry' }>

/** Without all of them some registries deny that an image exists. */
const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]

export async function openRegistry(source: RegistrySource, request: OpenRequest, web: Web): Promise<Opened> {
  const { as, sha256, mediaType } = request
  const target = as === 'manifest' ? 'manifests' : 'blobs'
  if (sha256 === undefined) throw digestRequired(`${source.host}/${source.repository}`)
  const types =
    mediaType === undefined || manifestTypes.includes(mediaType) ? manifestTypes : [...manifestTypes, mediaType]
  const headers = as === 'manifest' ? { accept: types.join(', ') } : {}
  return openHttp(request, { ...askOf(source, `${target}/sha256:${sha256}`, web), headers, refusesPages: true }, web)
}

export async function resolveTag(source: RegistrySource, tag: string, signal: AbortSignal, web: Web): Promise<Found> {
  if (!/^\w[\w.-]{0,127}$/.test(tag)) throw addressInvalid(`"${tag}" is no tag`)
  const ask = { ...askOf(source, `manifests/${tag}`, web), headers: { accept: manifestTypes.join(', ') } }
  const head = await send({ ...ask, method: 'HEAD' }, signal, web)
  const { statusCode: status = 0, headers } = head.answer
  await discard(head.answer)
  const digest = headers['docker-content-digest']
  // Some answer HEAD with less than GET, or not at all; then the body tells.
  if (status === 405 || status === 501 || (status === 200 && digest === undefined)) return hashTag(ask, signal, web)
  if (status !== 200) throw statusFailure(head, web.clock)
  refusePage(head)
  const sha256 = parseDigest(String(digest))
  if (!sha256) throw digestInvalid(head.url)
  return found(sha256, typeOf(head.answer), lengthOf(head.answer))
}

async function hashTag(ask: Ask, signal: AbortSignal, web: Web): Promise<Found> {
  const got = await get(ask, signal, web)
  return found(sha256Hex(got.body) as Sha256, typeOf(got.answer), got.body.length)
}

/** By the referrers API or, where there is none, its tag; and what cosign leaves at a tag of its own. Each digest once. */
export async function findReferrers(
  source: RegistrySource,
  sha256: Sha256,
  signal: AbortSignal,
  web: Web,
): Promise<Found[]> {
  const lists = await Promise.all([
    listReferrers(source, sha256, signal, web),
    orNothing(async () => [await resolveTag(source, `sha256-${sha256}.sig`, signal, web)]),
  ])
  return withoutRepeats(lists)
}

const mostPages = 8

async function listReferrers(source: RegistrySource, sha256: Sha256, signal: AbortSignal, web: Web): Promise<Found[]> {
  const headers = { accept: manifestTypes[0]! }
  const ask = { ...askOf(source, `referrers/sha256:${sha256}`, web), headers }
  const listed: Found[] = []
  let url: URL | null = ask.url
  for (let page = 0; url && page < mostPages; page++) {
    const followed = await send({ ...ask, url, method: 'GET' }, signal, web)
    if (page === 0 && lacksReferrers(followed.answer)) {
      await discard(followed.answer)
      return orNothing(() => readIndex({ ...askOf(source, `manifests/sha256-${sha256}`, web), headers }, signal, web))
    }
    listed.push(...indexIn(await whole(followed, signal, web)))
    url = nextPage(followed)
  }
  return listed
}

/** Older registries know no such address, and say so in different ways. */
const lacksReferrers = ({ statusCode = 0 }: IncomingMessage) => [400, 404, 405, 406, 501].includes(statusCode)

function nextPage({ answer, url }: Followed): URL | null {
  const [, link] = /<([^>]*)>\s*;\s*rel="?next"?/i.exec(String(answer.headers.link ?? '')) ?? []
  const next = link === undefined ? null : URL.parse(link, url)
  return next?.origin === url.origin ? next : null
}

const readIndex = async (ask: Ask, signal: AbortSignal, web: Web): Promise<Found[]> =>
  indexIn(await get(ask, signal, web))

function indexIn({ body, url }: Whole): Found[] {
  const index = parseIndex(body)
  if (!index) throw notContent(url, 'no image index')
  return index
}

type Ask = Pick<AuthenticatedRequest, 'url' | 'headers' | 'area' | 'scope' | 'plainHttp'>
type Whole = Followed & { readonly body: Buffer }

/** Below the repository. */
function askOf({ host, repository }: RegistrySource, path: string, { hosts }: Web): Omit<Ask, 'headers'> {
  if (!repositoryPattern.test(repository)) throw addressInvalid(`"${repository}" is no name of a repository`)
  return {
    url: new URL(`/v2/${repository}/${path}`, hosts.baseOf(host)),
    area: repository,
    scope: `repository:${repository}:pull`,
    plainHttp: 'known hosts',
  }
}

const repositoryPattern = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/

const send = (ask: Ask & { readonly method: 'GET' | 'HEAD' }, signal: AbortSignal, web: Web): Promise<Followed> =>
  web.authentication.send({ ...ask, stallMs: web.stallMs, signal })

const get = async (ask: Ask, signal: AbortSignal, web: Web): Promise<Whole> =>
  whole(await send({ ...ask, method: 'GET' }, signal, web), signal, web)

/** A short answer with its body. */
async function whole(followed: Followed, signal: AbortSignal, { clock, stallMs }: Web): Promise<Whole> {
  try {
    if (followed.answer.statusCode !== 200) throw statusFailure(followed, clock)
    refusePage(followed)
  } catch (error) {
    await discard(followed.answer)
    throw error
  }
  return { ...followed, body: await readWhole(followed, { most: mostManifestBytes, stallMs, signal }) }
}

const typeOf = ({ headers }: IncomingMessage) => headers['content-type']?.split(';')[0]?.trim().toLowerCase()

async function orNothing(find: () => Promise<Found[]>): Promise<Found[]> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof OriginFailure && error.kind === 'missing') return []
    throw error
  }
}
