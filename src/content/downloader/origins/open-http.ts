// Opens what an address holds, from a byte on; for registries and for single files alike.
import type { Clock } from '../../../lib/clock.ts'
import { letGo } from '../../let-go.ts'
import type { Opened, OpenRequest } from '../origin.ts'
import type { AuthenticatedRequest, Authentication } from './authentication.ts'
import { bytesOf, lengthOf } from './body.ts'
import { notContent } from './failures.ts'
import type { Hosts } from './hosts.ts'
import { discard } from './http-client.ts'
import { type Part, partOf, rangeHeaders, validatorOf } from './range.ts'
import type { Followed } from './redirects.ts'
import { statusFailure } from './statuses.ts'

/** What holds from one configure to the next. */
export interface Web {
  readonly authentication: Authentication
  readonly hosts: Hosts
  readonly clock: Clock
  readonly stallMs: number
}

export type Target = Pick<AuthenticatedRequest, 'url' | 'headers' | 'area' | 'scope' | 'credentials' | 'plainHttp'> & {
  /** A page for people is never what was asked for: it comes from a gate on the way. */
  readonly refusesPages: boolean
}

export async function openHttp(request: OpenRequest, target: Target, web: Web): Promise<Opened> {
  const { signal } = request
  const { stallMs, clock, authentication } = web
  const headers = { ...target.headers, ...rangeHeaders(request) }
  const followed = await authentication.send({ ...target, method: 'GET', headers, stallMs, signal })
  const { answer } = followed
  try {
    const part = openedPart(followed, request, clock)
    if (target.refusesPages) refusePage(followed)
    return {
      offset: part.offset,
      total: part.total,
      validator: validatorOf(answer.headers),
      contentType: answer.headers['content-type']?.slice(0, 300) ?? null,
      body: bytesOf(followed, { expected: part.length, stallMs, signal }),
      letGo,
      close: () => void answer.destroy(),
    }
  } catch (error) {
    await discard(answer)
    throw error
  }
}

function openedPart(followed: Followed, request: OpenRequest, clock: Clock): Part {
  const { answer, url } = followed
  if (answer.statusCode === 206) return partOf(answer.headers, request, url)
  if (answer.statusCode !== 200) throw statusFailure(followed, clock)
  const length = lengthOf(answer)
  return { offset: 0, total: length, length }
}

/** Gates of hotels and proxies send one to whoever asks for anything. */
export function refusePage({ answer, url }: Followed): void {
  if (/^\s*(?:text\/html|application\/xhtml)/i.test(answer.headers['content-type'] ?? ''))
    throw notContent(url, 'a web page, perhaps of a gate that wants somebody to log in first')
}
