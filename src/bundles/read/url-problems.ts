// Why a URL gave no bundle. Nothing of an answer is repeated, and of this machine nothing is told.
import type { Problem, ProblemCode } from '../../lib/problem.ts'
import { safeUrl } from '../../lib/safe-url.ts'
import { printSize } from '../../lib/size.ts'

const urlProblem = (code: ProblemCode, reason: string, hint?: string): Problem => ({
  code,
  path: '',
  reason,
  ...(hint !== undefined && { hint }),
})

export const invalid = (): Problem => urlProblem('url.invalid', 'not a URL')

export const schemeRefused = (url: URL, allowed: string): Problem =>
  urlProblem('url.scheme', `${safeUrl(url)}: the scheme ${url.protocol.slice(0, -1)} is not allowed`, `Use ${allowed}.`)

export const credentials = (url: URL): Problem =>
  urlProblem('url.credentials', `${safeUrl(url)}: a URL with a user name or password is not read`)

export const jsonnet = (url: URL): Problem =>
  urlProblem(
    'url.jsonnet',
    `${safeUrl(url)}: Jsonnet is not read from URLs`,
    'Download it and give it with -f, or publish the JSON that it evaluates to.',
  )

export const addressRefused = (host: string): Problem =>
  urlProblem(
    'url.address',
    `${host} is not a host of the public internet`,
    'An administrator can open single hosts and networks.',
  )

export const redirectRefused = (from: URL, why: string): Problem =>
  urlProblem('url.redirect', `${safeUrl(from)}: ${why}`)

export const status = (url: URL, code: number): Problem =>
  urlProblem('url.status', `${safeUrl(url)} answered with HTTP ${code}`)

export const page = (url: URL): Problem =>
  urlProblem('url.page', `${safeUrl(url)} is a web page, not a bundle`, 'Use the raw address of the file.')

export const tooLarge = (url: URL, limit: number): Problem =>
  urlProblem('url.too-large', `${safeUrl(url)} is larger than ${printSize(limit)}`)

export const contentCoding = (url: URL): Problem =>
  urlProblem('url.coding', `${safeUrl(url)} came in a coding that cannot be undone`)

export const timeout = (url: URL, what: string, ms: number): Problem =>
  urlProblem('url.timeout', `${safeUrl(url)}: ${what} took longer than ${ms / 1000} s`)

export const unreachable = (url: URL, why: string): Problem =>
  urlProblem('url.unreachable', `${safeUrl(url)} cannot be reached: ${why}`)

/** The same words whatever is there, so that nobody learns which files exist. */
export const fileRefused = (url: URL): Problem =>
  urlProblem('url.file', `${safeUrl(url)} is not a bundle that may be read`)
