// Single files at an address. What they hold is for the digest to say; here they only have to come whole.
import { Secret } from '../../../lib/redact.ts'
import type { Opened, OpenRequest } from '../origin.ts'
import { addressInvalid } from './failures.ts'
import type { Credentials } from './hosts.ts'
import { openHttp, type Web } from './open-http.ts'

export async function openUrl(address: string, request: OpenRequest, web: Web): Promise<Opened> {
  const url = parseAddress(address)
  const credentials = takeCredentials(url)
  const target = {
    url,
    credentials,
    headers: {},
    area: url.pathname,
    plainHttp: 'anywhere',
    refusesPages: false,
  } as const
  return openHttp(request, target, web)
}

/** http or https; throws for anything else. */
function parseAddress(address: string): URL {
  const url = URL.parse(address)
  if (!url) throw addressInvalid('it cannot be read as one')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw addressInvalid(`it begins with ${url.protocol}`)
  url.hash = ''
  return url
}

/** Out of the address, so that they are in no text that is made of it. */
function takeCredentials(url: URL): Credentials | undefined {
  const { username, password } = url
  url.username = ''
  url.password = ''
  return username === '' ? undefined : { username: unescaped(username), password: new Secret(unescaped(password)) }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
