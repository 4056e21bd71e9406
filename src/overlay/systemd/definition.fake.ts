// What the fake service manager knows of a unit: read from the files below a root as they are at one moment.
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import type { UnitName } from '../names.ts'
import type { UnitFile } from '../units/action.ts'
import { booleanOf, type EffectiveUnit, lastValue, valuesOf, wordsOf } from '../units/effective.ts'
import { readTree, type Units } from '../units/tree.ts'
import { sibling, typeOf } from '../units/unit-name.ts'
import { standardTargets } from './offline.ts'
import type { UnitStatus } from './systemd.ts'

export interface Definition {
  readonly name: UnitName
  readonly load: UnitStatus['load']
  /** The file and the drop-ins with their times; the first is the fragment when there is one. */
  readonly files: readonly { readonly path: string; readonly mtimeMs: number }[]
  readonly fragmentPath: string
  readonly wants: readonly UnitName[]
  readonly requires: readonly UnitName[]
  readonly partOf: readonly UnitName[]
  readonly after: readonly UnitName[]
  value(section: string, key: string): string | undefined
  values(section: string, key: string): readonly string[]
  flag(section: string, key: string): boolean
}

const directory = '/etc/systemd/system'

/** Also of a unit that is not there. An alias gives the definition of the unit it stands for. */
export type Define = (unit: UnitName) => Definition

export function readDefinitions(root: string): Define {
  const units = readTree(readUnitFiles(root))
  return asked => define(root, units, units.effective(asked))
}

function define(root: string, units: Units, unit: EffectiveUnit): Definition {
  const paths = unit.texts.map(({ path }) => `${directory}/${path}`)
  const fragmentPath =
    unit.base === 'here' ? (paths[0] ?? '') : unit.base === 'masked' ? `${directory}/${unit.name}` : ''
  const words = (key: string) => wordsOf(unit, 'Unit', key) as UnitName[]
  const requires = [...words('Requires'), ...words('BindsTo'), ...(units.requires.get(unit.name) ?? [])]
  return {
    name: unit.name,
    load: loadStateOf(unit),
    files: paths.map(path => ({ path, mtimeMs: statSync(resolveBelow(root, path)).mtimeMs })),
    fragmentPath,
    wants: [...words('Wants'), ...(units.wants.get(unit.name) ?? [])],
    requires,
    partOf: words('PartOf'),
    after: words('After'),
    value: (section, key) => lastValue(unit, section, key),
    values: (section, key) => valuesOf(unit, section, key),
    flag: (section, key) => booleanOf(lastValue(unit, section, key)) ?? false,
  }
}

/** Like systemd: by the list of files and their times, so that another file of the same age goes unnoticed. */
export function differs(loaded: Definition, now: Definition): boolean {
  return (
    now.load !== loaded.load ||
    now.files.length !== loaded.files.length ||
    now.files.some(({ path, mtimeMs }, index) => {
      const before = loaded.files[index]
      return path !== before?.path || mtimeMs > before.mtimeMs
    })
  )
}

/** The unit that a socket, timer or path starts; null for other types. For an accepting socket it is a template. */
export function triggered({ name, value, flag }: Definition): UnitName | null {
  switch (typeOf(name)) {
    case 'socket':
      if (flag('Socket', 'Accept')) return sibling(name, 'service').replace(/\.service$/, '@.service') as UnitName
      return (value('Socket', 'Service') ?? sibling(name, 'service')) as UnitName
    case 'timer':
      return (value('Timer', 'Unit') ?? sibling(name, 'service')) as UnitName
    case 'path':
      return (value('Path', 'Unit') ?? sibling(name, 'service')) as UnitName
    default:
      return null
  }
}

/** '' when it can be started; else systemd's words. */
export function whyUnusable({ name, load }: Definition): string {
  if (load === 'not-found') return `Unit ${name} not found.`
  if (load === 'masked') return `Unit ${name} is masked.`
  if (load === 'bad-setting') return `Unit ${name} has a bad unit file setting.`
  return ''
}

/** Without the characters before a program that tell systemd how to run it. */
export const programOf = (command: string) => basename(command.replace(/^[-@:+!]+/, '').split(/\s+/)[0] ?? '')

export const fails = (command: string) => programOf(command).endsWith('false') && !command.startsWith('-')

export function sleepMs(command: string): number {
  return programOf(command) === 'sleep' ? spanMs(command.split(/\s+/)[1] ?? '0') : 0
}

export function timeoutOf({ name, value }: Definition, key: 'TimeoutStartSec' | 'TimeoutStopSec'): number | null {
  const type = typeOf(name)
  if (!['service', 'socket', 'mount', 'swap'].includes(type)) return null
  const section = type.slice(0, 1).toUpperCase() + type.slice(1)
  const isEndless = key === 'TimeoutStartSec' && value('Service', 'Type') === 'oneshot'
  const ms = spanMs(value(section, key) ?? value(section, 'TimeoutSec') ?? (isEndless ? 'infinity' : '90'))
  return Number.isFinite(ms) ? ms : null
}

/** `90`, `1.5s`, `2min`, `infinity`: all that tests write. */
function spanMs(text: string): number {
  const [, amount, unit = 's'] = /^([\d.]+)(ms|s|min|h)?$/.exec(text) ?? []
  return amount === undefined
    ? Number.POSITIVE_INFINITY
    : Number(amount) * { ms: 1, s: 1000, min: 60_000, h: 3_600_000 }[unit]!
}

export function existsBelow(root: string, path: string): boolean {
  return statSync(resolveBelow(root, path), { throwIfNoEntry: false }) !== undefined
}

function loadStateOf(unit: EffectiveUnit): UnitStatus['load'] {
  if (unit.base === 'masked') return 'masked'
  if (unit.base === 'elsewhere') return standardTargets.has(unit.name) ? 'loaded' : 'not-found'
  const isBroken = typeOf(unit.name) === 'service' && valuesOf(unit, 'Service', 'ExecStart').length === 0
  return isBroken ? 'bad-setting' : 'loaded'
}

function readUnitFiles(root: string): Map<string, UnitFile> {
  const paths = namesIn(root, directory).flatMap(name => {
    const inner = namesIn(root, `${directory}/${name}`)
    return inner.length > 0 ? inner.map(entry => `${name}/${entry}`) : [name]
  })
  return new Map(paths.flatMap(path => readUnitFile(root, path).map(file => [path, file] as const)))
}

/** Nothing for a link that leads nowhere, except in `.wants` and the like, where its name alone counts. */
function readUnitFile(root: string, path: string): UnitFile[] {
  const at = `${directory}/${path}`
  const link = linkAt(root, at)
  const means = link !== null && (link === '/dev/null' || dirname(resolve(dirname(at), link)).startsWith(directory))
  if (link !== null && (means || /^[^/]*\.(wants|requires|upholds)\//.test(path))) return [{ link }]
  const file = resolveBelow(root, at)
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? [{ text: readFileSync(file, 'utf8') }] : []
}

/** Empty for what is not a directory, also not behind a link. */
function namesIn(root: string, path: string): string[] {
  const at = resolveBelow(root, path)
  return statSync(at, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(at) : []
}

/** Follows links as the machine would, for which `root` is all there is. */
function resolveBelow(root: string, path: string, followed = 0): string {
  let at = ''
  const parts = normalize(path)
    .split('/')
    .filter(part => part !== '')
  for (const [index, part] of parts.entries()) {
    const link = followed < 40 ? linkAt(root, `${at}/${part}`) : null
    if (link !== null) {
      const target = resolve(at || '/', link)
      return resolveBelow(root, join(target, ...parts.slice(index + 1)), followed + 1)
    }
    at = `${at}/${part}`
  }
  return root + at
}

const linkAt = (root: string, path: string) =>
  lstatSync(root + path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(root + path) : null
