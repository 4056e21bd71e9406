// Code hosts have a page for people and a raw address for each file. Whoever pastes the first means the second.

interface CodeHost {
  /** Without: the path alone tells, since these are run under any name. */
  readonly host?: string
  readonly page: RegExp
  readonly raw: string
  readonly rawHost?: string
}

const codeHosts: readonly CodeHost[] = [
  {
    host: 'github.com',
    page: /^\/([^/]+\/[^/]+)\/(?:blob|raw)\/(.+)$/,
    raw: '/$1/$2',
    rawHost: 'raw.githubusercontent.com',
  },
  { host: 'gist.github.com', page: /^\/([^/]+\/[0-9a-f]+)\/?$/, raw: '/$1/raw', rawHost: 'gist.githubusercontent.com' },
  { host: 'bitbucket.org', page: /^\/([^/]+\/[^/]+)\/src\/(.+)$/, raw: '/$1/raw/$2' },
  // GitLab
  { page: /^\/(.+)\/-\/blob\/(.+)$/, raw: '/$1/-/raw/$2' },
  // Gitea, Forgejo, Codeberg
  { page: /^\/([^/]+\/[^/]+)\/src\/(branch|tag|commit)\/(.+)$/, raw: '/$1/raw/$2/$3' },
]

/** The same URL when it is no such page. */
export function rawAddress(url: URL): URL {
  const known = codeHosts.find(({ host, page }) => (host ?? url.hostname) === url.hostname && page.test(url.pathname))
  if (!known) return url
  const raw = new URL(url)
  raw.hostname = known.rawHost ?? url.hostname
  raw.pathname = url.pathname.replace(known.page, known.raw)
  // How the page is to be shown.
  raw.search = ''
  raw.hash = ''
  return raw
}
