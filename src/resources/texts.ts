// Fields that are text with a grammar of its own: addresses, hosts, patterns, keys. No message repeats the text.
import * as z from 'zod'

export const httpUrl = () =>
  z
    .string()
    .max(8000)
    .refine(text => isHttp(URL.parse(text)), 'is not an http or https address')
    .refine(
      text => !hasUser(URL.parse(text)),
      'holds a user or a password, which would be shown wherever the address is',
    )

const isHttp = (url: URL | null) => url?.protocol === 'http:' || url?.protocol === 'https:'

const hasUser = (url: URL | null) => Boolean(url?.username || url?.password)

/** A name or an address with an optional port. */
export const host = () =>
  z
    .string()
    .max(300)
    .regex(
      /^(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/,
      'is not a host such as registry.example:5000',
    )

export const pattern = () => z.string().min(1).refine(isPattern, 'is not a regular expression')

/** A leading `(?i)` is known from other languages; here it becomes a flag. */
function isPattern(text: string): boolean {
  try {
    new RegExp(text.replace(/^\(\?[ims]+\)/, ''))
    return true
  } catch {
    return false
  }
}

export const pem = (label: 'CERTIFICATE' | 'PUBLIC KEY') =>
  z
    .string()
    .max(64 * 1024)
    .refine(text => !text.includes('PRIVATE KEY-----'), 'is a private key, which must not stand in a bundle')
    .refine(text => text.includes(`-----BEGIN ${label}-----`), `is not a ${label.toLowerCase()} in PEM`)

export const timeOfDay = () => z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time of day such as 22:30')

export const timezone = () => z.string().refine(isTimezone, 'is not a time zone such as UTC or Europe/Vienna')

/** Asking costs much more than remembering. */
const knownTimezones = new Set<string>()

function isTimezone(name: string): boolean {
  if (knownTimezones.has(name)) return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    knownTimezones.add(name)
    return true
  } catch {
    return false
  }
}
