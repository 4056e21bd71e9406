// Names that were checked once and are trusted from then on.

/** `<package name>-<52 characters of base32>`, the name of a directory under states/. */
export type StateName = string & { readonly '~': 'StateName' }
/** Relative to /etc, normalised, without `..`. */
export type EtcTarget = string & { readonly '~': 'EtcTarget' }
/** With its suffix: `containerd.service`. */
export type UnitName = string & { readonly '~': 'UnitName' }
/** Lower-case hex SHA-256. */
export type Sha256 = string & { readonly '~': 'Sha256' }

const stateName = /^[^/\0]{1,200}-[a-z2-7]{52}$/

export function isStateName(text: string): text is StateName {
  return stateName.test(text) && !text.startsWith('.')
}

export { byName } from '../lib/by-name.ts'
