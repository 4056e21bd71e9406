// A request with its redirects. Holds: Authorization goes to the origin that was asked and to no other; nothing that began
// encrypted goes on in clear; where a redirect leads is found out anew for each request, since signed addresses expire.
import type { IncomingMessage } from 'node:http'
import { insecureRedirect, redirectInvalid, tooManyRedirects } from './failures.ts'
import type { Hosts } from './hosts.ts'
import { discard, type HttpClient, type HttpRequest } from './http-client.ts'

export interface FollowRequest extends Omit<HttpRequest, 'ca'> {
  readonly authorization?: string | undefined
  /** Where http may be spoken to on the way: `known hosts` is loopback and the datastores that say so. */
  readonly plainHttp: 'known hosts' | 'anywhere'
}

export interface Followed {
  /** The last answer, whatever its status. */
  readonly answer: IncomingMessage
  /** Where it came from. */
  readonly url: URL
  /** False once the way has left the origin that was asked. */
  readonly atHome: boolean
}

const mostRedirects = 5

export async function follow(request: FollowRequest, client: HttpClient, hosts: Hosts): Promise<Followed> {
  let { url } = request
  let atHome = true
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const headers =
      atHome && request.authorization !== undefined
        ? { ...request.headers, authorization: request.authorization }
        : request.headers
    const answer = await client.send({ ...request, url, headers, ca: hosts.caOf(url.host) })
    const { location } = answer.headers
    if (![301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) || location === undefined)
      return { answer, url, atHome }
    await discard(answer)
    url = nextUrl(url, location, request.plainHttp, hosts)
    atHome &&= url.origin === request.url.origin
  }
  throw tooManyRedirects(request.url, mostRedirects)
}

/** Where a redirect leads, unless it may not be followed. */
export function nextUrl(from: URL, location: string, plainHttp: FollowRequest['plainHttp'], hosts: Hosts): URL {
  const to = URL.parse(location, from)
  if (to?.protocol !== 'http:' && to?.protocol !== 'https:') throw redirectInvalid(from)
  const mayBePlain = from.protocol === 'http:' && (plainHttp === 'anywhere' || hosts.isPrivate(to))
  if (to.protocol === 'http:' && !mayBePlain) throw insecureRedirect(from, to)
  // Node would make a header of them.
  to.username = ''
  to.password = ''
  return to
}
