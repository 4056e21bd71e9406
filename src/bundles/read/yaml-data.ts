// Makes plain data of a parsed YAML document. What is not data (tags, merge keys, keys that are no text) is a Problem, and is
// read as it was most likely meant, so that nothing else seems wrong because of it.
// Holds: a key of any name becomes a key of its own and nothing more; aliases cost no more than the budget allows.
import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, Scalar, type YAMLMap } from 'yaml'
import { ProblemsError } from '../../lib/errors.ts'
import { fieldPath } from '../../lib/located-json.ts'
import type { Problem, ProblemCode } from '../../lib/problem.ts'
import type { Text } from './decoder.ts'
import { inexactNumber, isExact } from './numbers.ts'
import type { Places } from './places.ts'
import { tooDeep } from './too-deep.ts'
import type { YamlDocument } from './yaml-syntax.ts'

export interface YamlData {
  readonly value: unknown
  readonly problems: readonly Problem[]
}

interface Reading {
  /** Of the document in the text. */
  readonly start: number
  /** Filled when given: the second reading, which costs nothing of the budget. */
  readonly places: Places | undefined
}

/** Throws a ProblemsError when a limit is reached: then there is no value. */
export function yamlData({ contents, warnings }: YamlDocument, text: Text, { start, places }: Reading): YamlData {
  const { limits, aliases } = text
  const problems: Problem[] = []
  const anchors = new Map<string, ParsedNode>()
  const targets = new Map<Alias, ParsedNode>()
  const open = new Set<ParsedNode>()
  let expanding = 0
  const tagOffsets = warnings.map(({ pos }) => pos[0]).sort((a, b) => a - b)

  const placeOf = (offset: number) => text.placeOf(start + offset)
  const tell = (code: ProblemCode, path: string, offset: number, words: Pick<Problem, 'reason' | 'hint'>) => {
    const source = placeOf(offset)
    addProblem({ code, path, ...words, ...(source && { source }) })
  }
  const addProblem = (problem: Problem) => {
    // What an alias repeats was told where it stands.
    if (expanding === 0 && problems.length < limits.problems) problems.push(problem)
  }
  const put = (path: string, key: number, value: number) => {
    places?.set(path, { key: start + key, value: start + value })
  }

  // A list at the top is no part of any resource.
  const value = read(contents, '', isSeq(contents) ? 0 : 1)
  if (contents) put('', contents.range[0], contents.range[0])
  return { value, problems }

  function read(node: ParsedNode | null, path: string, depth: number): unknown {
    if (!node) return null
    if (isAlias(node)) return expand(node, path, depth)
    if (node.anchor !== undefined && expanding === 0) anchors.set(node.anchor, node)
    if (node.tag !== undefined) judgeTag(node, path)
    if (isScalar(node)) return scalar(node, path)
    if (depth > limits.depth)
      throw new ProblemsError([tooDeep({ limit: limits.depth, path, source: placeOf(node.range[0]) })])
    open.add(node)
    const value = isMap(node)
      ? mapping(node as YAMLMap.Parsed, path, depth)
      : node.items.map((item, index) => {
          const inside = fieldPath(path, index)
          put(inside, item.range![0], item.range![0])
          return read(item as ParsedNode, inside, depth + 1)
        })
    open.delete(node)
    return value
  }

  function mapping(node: YAMLMap.Parsed, path: string, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    const keys = new Map<string, number>()
    const merged: unknown[] = []
    for (const pair of node.items) {
      const key = keyOf(pair, node, path)
      if (!key) continue
      const inside = fieldPath(path, key.text)
      put(inside, key.offset, offsetOf(pair.value) ?? key.offset)
      const value = read(pair.value, inside, depth + 1)
      const first = keys.get(key.text)
      if (first !== undefined) tellRepeated(key, inside, first)
      else keys.set(key.text, key.offset)
      if (key.isMerge) {
        tell('yaml.merge-key', inside, key.offset, {
          reason: 'merge keys (<<) are not read',
          hint: 'Write the keys out, or make the bundle with Jsonnet.',
        })
        merged.push(value)
      } else setOwn(map, key.text, value)
    }
    for (const other of merged.flat())
      if (typeof other === 'object' && other !== null)
        for (const [key, value] of Object.entries(other)) if (!Object.hasOwn(map, key)) setOwn(map, key, value)
    return map
  }

  function keyOf({ key }: Pair<ParsedNode, ParsedNode | null>, parent: ParsedNode, path: string): Key | undefined {
    const node = key && isAlias(key) ? targetOf(key, path) : key
    const offset = key?.range[0] ?? parent.range[0]
    if (node && isScalar(node)) {
      if (node.anchor !== undefined && expanding === 0) anchors.set(node.anchor, node)
      if (node.tag !== undefined) judgeTag(node, path)
      const isPlain = node.type === Scalar.PLAIN
      const text = isPlain ? node.source : String(node.value)
      if (text || !isPlain) return { text, offset, isMerge: isPlain && text === '<<' }
    }
    tell('yaml.key', path, offset, { reason: 'a key of this mapping is not text', hint: 'Write every key as text.' })
    return undefined
  }

  function tellRepeated({ text, offset }: Key, path: string, first: number): void {
    const place = placeOf(first)
    const where = place ? `; the first is at line ${place.line}, column ${place.column}` : ''
    tell('key.duplicate', path, offset, { reason: `the key "${text}" stands here a second time${where}` })
  }

  function expand(alias: Alias.Parsed, path: string, depth: number): unknown {
    const target = targetOf(alias, path)
    if (!target) return null
    if (open.has(target)) {
      tell('yaml.alias', path, alias.range[0], { reason: `the alias *${alias.source} stands inside what it repeats` })
      return null
    }
    if (!places) spend(target, alias, path)
    expanding++
    const value = read(target, path, depth)
    expanding--
    return value
  }

  /** The anchor that stands last before the alias: found the first time that it is read, in the order of the text. */
  function targetOf(alias: Alias.Parsed, path: string): ParsedNode | undefined {
    const target = targets.get(alias) ?? anchors.get(alias.source)
    if (target) targets.set(alias, target)
    else tell('yaml.alias', path, alias.range[0], { reason: `no anchor &${alias.source} stands before this alias` })
    return target
  }

  /** One for each expansion, and one for each KiB of text that it repeats. */
  function spend(target: ParsedNode, alias: Alias.Parsed, path: string): void {
    aliases.left -= 1 + Math.floor((target.range[1] - target.range[0]) / 1024)
    if (aliases.left >= 0) return
    const source = placeOf(alias.range[0])
    throw new ProblemsError([
      {
        code: 'limit.aliases',
        path,
        reason: 'aliases repeat more than is allowed',
        hint: 'Write the values out, or make the bundle with Jsonnet.',
        ...(source && { source }),
      },
    ])
  }

  function scalar(node: Scalar.Parsed, path: string): unknown {
    const { value, source: written } = node
    if (typeof value !== 'number' || isExact(value)) return value
    addProblem(inexactNumber({ path, written, source: placeOf(node.range[0]) }))
    return written
  }

  function judgeTag(node: Exclude<ParsedNode, Alias.Parsed>, path: string): void {
    const tag = node.tag!
    const isText = isScalar(node) && typeof node.value === 'string'
    if (textTags.has(tag) || (coreTags.has(tag) && !isText)) return
    tell('yaml.tag', path, tagOffsets.findLast(offset => offset <= node.range[0]) ?? node.range[0], {
      reason: `the tag ${tag.replace(/^tag:yaml\.org,2002:/, '!!')} has no meaning in a bundle`,
      hint: 'Take the tag out.',
    })
  }
}

interface Key {
  readonly text: string
  readonly offset: number
  readonly isMerge: boolean
}

const yamlOrg = 'tag:yaml.org,2002:'
const textTags = new Set(['!', `${yamlOrg}str`])
/** On a text they have failed. */
const coreTags = new Set(['null', 'bool', 'int', 'float', 'map', 'seq'].map(name => yamlOrg + name))

/** Undefined when nothing is written there. */
const offsetOf = (node: ParsedNode | null): number | undefined =>
  node && node.range[0] < node.range[1] ? node.range[0] : undefined

function setOwn(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') map[key] = value
  else Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true })
}
