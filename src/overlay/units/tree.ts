// Finds, in the files below systemd/system, what speaks of a unit: its base, its drop-ins in the order in which systemd
// reads them, and who wants it. Parses nothing until asked for an effective unit, and each of those once.
import { byName, type UnitName } from '../names.ts'
import type { UnitFile, UnitTree } from './action.ts'
import { type EffectiveUnit, mergeTexts } from './effective.ts'
import {
  instanceOf,
  instantiate,
  isTemplate,
  isUnitFileName,
  isUnitType,
  prefixOf,
  templateOf,
  typeOf,
} from './unit-name.ts'

/** elsewhere: the distribution's, or nobody's; the tree has at most drop-ins for it. */
export type UnitBase = 'here' | 'elsewhere' | 'masked'

export interface UnitParts {
  /** The unit's own name, when it was asked for by an alias. */
  readonly name: UnitName
  readonly base: UnitBase
  /** Base first, then drop-ins in order. */
  readonly texts: readonly UnitText[]
  /** False when nothing but type-wide drop-ins (`service.d`) speaks of it. */
  readonly own: boolean
}

export interface UnitText {
  /** Below systemd/system. */
  readonly path: string
  readonly text: string
}

export interface Units {
  /** Units that have a base, a drop-in or a link in a .wants directory here; no templates, no aliases. */
  readonly declared: ReadonlySet<UnitName>
  /** Who has `.wants`, `.requires` or `.upholds` links, to whom. */
  readonly wants: ReadonlyMap<UnitName, ReadonlySet<UnitName>>
  /** Of these, the `.requires` ones. */
  readonly requires: ReadonlyMap<UnitName, ReadonlySet<UnitName>>
  /** `service` -> its type-wide drop-ins. */
  readonly typeWide: ReadonlyMap<string, ReadonlyMap<string, UnitFile>>
  parts(name: UnitName): UnitParts
  effective(name: UnitName): EffectiveUnit
}

export function readTree(tree: UnitTree): Units {
  const found = sortOut(tree)
  const parts = remembered((name: UnitName) => partsOf(found, name))
  const effective = remembered((name: UnitName) => mergeTexts(parts(name)))
  const { wants, requires, typeWide } = found
  return { declared: declaredIn(found), wants, requires, typeWide, parts, effective }
}

function remembered<T>(make: (name: UnitName) => T): (name: UnitName) => T {
  const made = new Map<UnitName, T>()
  return name => {
    const known = made.get(name) ?? make(name)
    made.set(name, known)
    return known
  }
}

interface Found {
  readonly bases: Map<UnitName, UnitFile>
  /** By the name of their directory, without `.d`. */
  readonly dropIns: Map<string, Map<string, UnitFile>>
  readonly typeWide: Map<string, Map<string, UnitFile>>
  readonly wants: Map<UnitName, Set<UnitName>>
  readonly requires: Map<UnitName, Set<UnitName>>
  /** Unit -> the names that link to it. */
  readonly aliases: Map<UnitName, Set<UnitName>>
}

function sortOut(tree: UnitTree): Found {
  const found: Found = {
    bases: new Map(),
    dropIns: new Map(),
    typeWide: new Map(),
    wants: new Map(),
    requires: new Map(),
    aliases: new Map(),
  }
  for (const [path, file] of tree) {
    const slash = path.indexOf('/')
    if (slash !== -1) sortOutInner(found, path.slice(0, slash), path.slice(slash + 1), file)
    else if (isUnitFileName(path)) found.bases.set(path, file)
  }
  for (const name of found.bases.keys()) {
    const unit = resolve(found.bases, name).name
    if (unit !== name) added(found.aliases, unit, name)
  }
  return found
}

function sortOutInner(found: Found, directory: string, name: string, file: UnitFile) {
  const [, owner = '', kind] = /^(.+)\.(d|wants|requires|upholds)$/.exec(directory) ?? []
  if (kind === 'd') {
    const dropIns = isUnitType(owner) ? found.typeWide : found.dropIns
    if (/^[^/]+\.conf$/.test(name)) dropIns.set(owner, (dropIns.get(owner) ?? new Map()).set(name, file))
  } else if (kind && isUnitFileName(owner) && isUnitFileName(name) && !isNull(file)) {
    added(found.wants, owner, name)
    if (kind === 'requires') added(found.requires, owner, name)
  }
}

function added(map: Map<UnitName, Set<UnitName>>, key: UnitName, name: UnitName) {
  map.set(key, (map.get(key) ?? new Set()).add(name))
}

function declaredIn({ bases, dropIns, wants }: Found): Set<UnitName> {
  const wanted = [...wants.values()].flatMap(names => [...names]).filter(name => bases.has(templateOf(name) ?? name))
  const named = [
    ...bases.keys(),
    ...[...dropIns.keys()].filter(isUnitFileName).filter(owner => !isPrefix(owner)),
    ...wanted,
  ]
  return new Set(named.filter(name => !isTemplate(name) && resolve(bases, name).name === name))
}

function partsOf(found: Found, asked: UnitName): UnitParts {
  const { name, at, file } = resolve(found.bases, asked)
  if (file && isNull(file)) return { name, base: 'masked', texts: [], own: true }

  const own = [name, ...(found.aliases.get(name) ?? [])].flatMap(directoriesOf)
  const type = typeOf(name)
  const dropIns = new Map<string, UnitText>()
  for (const [directory, files] of [
    ...own.map(from => [from, found.dropIns.get(from)] as const),
    [type, found.typeWide.get(type)] as const,
  ])
    for (const [dropIn, content] of files ?? [])
      if (!dropIns.has(dropIn))
        dropIns.set(dropIn, { path: `${directory}.d/${dropIn}`, text: 'text' in content ? content.text : '' })

  const base = file && 'text' in file ? [{ path: at, text: file.text }] : []
  const inOrder = [...dropIns].sort(([a], [b]) => byName(a, b)).map(([, text]) => text)
  return {
    name,
    base: base.length ? 'here' : 'elsewhere',
    texts: [...base, ...inOrder.filter(({ text }) => text !== '')],
    own: base.length > 0 || own.some(directory => found.dropIns.has(directory)),
  }
}

const systemdFollows = 8

/** Follows aliases, and falls back to the template of an instance, as systemd does. */
function resolve(bases: Found['bases'], asked: UnitName): { name: UnitName; at: UnitName; file: UnitFile | undefined } {
  let name = asked
  for (let followed = 0; followed < systemdFollows; followed++) {
    const template = templateOf(name)
    const at = bases.has(name) || !template ? name : template
    const file = bases.get(at)
    const target = file && aliasTarget(at, file)
    if (!target) return { name, at, file }
    const instance = instanceOf(name)
    const next = instance && isTemplate(target) ? instantiate(target, instance) : target
    if (next === name) return { name, at: target, file: bases.get(target) }
    name = next
  }
  return { name: asked, at: asked, file: undefined }
}

/** The other unit that a link in the same directory names; null for files, masks and links that lead away. */
function aliasTarget(name: UnitName, file: UnitFile): UnitName | null {
  if (!('link' in file)) return null
  const target = file.link.replace(/^(\.\/|\/etc\/systemd\/system\/)/, '')
  return target !== name && isUnitFileName(target) ? target : null
}

/** Directories (without `.d`) that hold drop-ins for a name, the most specific first. */
function directoriesOf(name: UnitName): string[] {
  const type = typeOf(name)
  const instance = instanceOf(name)
  const template = templateOf(name)
  return [
    name,
    ...(template ? [template] : []),
    ...dashPrefixes(prefixOf(name)).flatMap(prefix => [
      ...(instance ? [`${prefix}@${instance}.${type}`, `${prefix}@.${type}`] : []),
      `${prefix}.${type}`,
    ]),
  ]
}

/** `a-b-c` -> `a-b-`, `a-`. A leading dash starts no prefix. */
function dashPrefixes(prefix: string): string[] {
  const prefixes: string[] = []
  for (let dash = prefix.lastIndexOf('-', prefix.length - 2); dash > 0; dash = prefix.lastIndexOf('-', dash - 1))
    prefixes.push(prefix.slice(0, dash + 1))
  return prefixes
}

/** `foo-.service.d` is for all units that begin with foo-, `-.mount.d` for the root mount alone. */
const isPrefix = (owner: UnitName) => prefixOf(owner).length > 1 && prefixOf(owner).endsWith('-')

/** systemd takes an empty file for a link to /dev/null. */
const isNull = (file: UnitFile) => ('link' in file ? file.link === '/dev/null' : file.text === '')
