// Unit names and what systemd reads out of them. A name is checked here once and is a UnitName from then on.
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import type { UnitName } from '../names.ts'
import { nameInvalid } from './problems.ts'

const unitTypes = [
  'service',
  'socket',
  'target',
  'timer',
  'path',
  'mount',
  'automount',
  'swap',
  'slice',
  'scope',
  'device',
] as const
export type UnitType = (typeof unitTypes)[number]

/** What systemd loads: one prefix, perhaps an instance, a known suffix. */
const loadable = new RegExp(`^[A-Za-z0-9:_.\\\\-]+(@[A-Za-z0-9:_.\\\\@-]*)?\\.(${unitTypes.join('|')})$`)
/** What a config may say. */
const declarable = /^[A-Za-z0-9-][A-Za-z0-9._@:\\-]{0,127}(?<!\.)$/

/** A key of `systemdUnitsByName`; without a unit suffix it means a service. */
export function unitNameOf(key: string, path = fieldPath('systemdUnitsByName', key)): UnitName | Problem {
  const name = isUnitFileName(key) ? key : `${key}.service`
  return declarable.test(key) && isUnitFileName(name) ? name : nameInvalid(key, path)
}

export function isUnitFileName(text: string): text is UnitName {
  return text.length <= 255 && loadable.test(text)
}

export const isUnitType = (text: string): text is UnitType => unitTypes.some(type => type === text)

export const typeOf = (name: UnitName): UnitType => name.slice(name.lastIndexOf('.') + 1) as UnitType

/** `foo` of foo.service, foo@.service and foo@a.service. */
export function prefixOf(name: UnitName): string {
  const at = name.indexOf('@')
  return name.slice(0, at === -1 ? name.lastIndexOf('.') : at)
}

/** `a` of foo@a.service, '' of foo@.service, null of foo.service. */
export function instanceOf(name: UnitName): string | null {
  const at = name.indexOf('@')
  return at === -1 ? null : name.slice(at + 1, name.lastIndexOf('.'))
}

export const isTemplate = (name: UnitName): boolean => instanceOf(name) === ''

/** foo@.service for foo@a.service; null for what is not an instance. */
export function templateOf(name: UnitName): UnitName | null {
  return instanceOf(name) ? (`${prefixOf(name)}@.${typeOf(name)}` as UnitName) : null
}

export function instantiate(template: UnitName, instance: string): UnitName {
  return `${prefixOf(template)}@${instance}.${typeOf(template)}` as UnitName
}

/** The unit of another type that belongs to this one by its name: web.socket to web.service. */
export function sibling(name: UnitName, type: UnitType): UnitName {
  return `${name.slice(0, name.lastIndexOf('.'))}.${type}` as UnitName
}

/** /var/lib for var-lib.mount, / for -.mount. */
export function mountPoint(name: UnitName): string {
  const escaped = prefixOf(name)
  if (escaped === '-') return '/'
  const path = escaped
    .replaceAll('-', '/')
    .replace(/\\x([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return `/${path}`
}
