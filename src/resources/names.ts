// Names of machines, instances, services, roles and tags. They become host names, unit names and keys of maps.
import * as z from 'zod'

/** `constructor` fits the letters, but is a key that every object seems to have. */
export const plainNamePattern = /^(?!constructor$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const plainName = () =>
  z.string().regex(plainNamePattern, 'is not a name such as web-1: lower-case letters, digits and "-", at most 63')
