// A URL as it may be shown: userinfo, query and fragment are where credentials travel, so they go.

export function safeUrl(url: string | URL): string {
  const parsed = typeof url === 'string' ? URL.parse(url) : url
  if (!parsed) return 'an invalid URL'
  const { protocol, host, pathname } = parsed
  return `${protocol}//${host}${pathname}`
}
