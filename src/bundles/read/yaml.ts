// YAML streams: a resource a document, or a list of them. Each document is read on its own, by the fast reader where it can
// and by the whole parser where it cannot, so a broken one hides no other.
import { ProblemsError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Document } from '../model/source.ts'
import type { Decoder, Found, Text } from './decoder.ts'
import { type Places, placeIn } from './places.ts'
import { notPlain } from './plain-scalar.ts'
import { plainYamlReader } from './plain-yaml.ts'
import { resourcesOf } from './resources-of.ts'
import { yamlData } from './yaml-data.ts'
import { contentFrom, type YamlPart, yamlParts } from './yaml-stream.ts'
import { parseYaml } from './yaml-syntax.ts'

export const yamlDecoder: Decoder = {
  name: 'yaml',
  extensions: ['.yaml', '.yml'],
  contentTypes: ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'],
  sniff: () => false,
  decode,
}

function* decode(text: Text): Generator<Found> {
  const readPlain = plainYamlReader(text.text, text.limits.depth)
  for (const part of yamlParts(text.text)) {
    const read = (places?: Places) => readPart(text, part, readPlain, places)
    const found = read()
    if (found.is === 'broken') yield { is: 'broken resource', problems: found.problems }
    if (found.is === 'value')
      yield* resourcesOf({ ...found, locate: locator(text, read, found.isPlain ? part.body : undefined) })
  }
}

type PartRead =
  | {
      readonly is: 'value'
      readonly value: unknown
      readonly problems: readonly Problem[]
      readonly isPlain?: boolean
    }
  | { readonly is: 'empty' }
  | { readonly is: 'broken'; readonly problems: readonly Problem[] }

function readPart(
  text: Text,
  { start, body, end }: YamlPart,
  readPlain: ReturnType<typeof plainYamlReader>,
  places: Places | undefined,
): PartRead {
  const value = body === undefined ? notPlain : readPlain({ start: body, end, places })
  if (value !== notPlain) return { is: 'value', value, problems: [], isPlain: true }
  places?.clear()
  const parsed = parseYaml(text, { start, end })
  if (parsed.is === 'empty') return parsed
  if (parsed.is === 'broken') return { is: 'broken', problems: [parsed.problem] }
  try {
    return { is: 'value', ...yamlData(parsed.document, text, { start, places }) }
  } catch (error) {
    if (error instanceof ProblemsError) return { is: 'broken', problems: error.problems }
    throw error
  }
}

/**
 * Reads again, for the places alone, when the first one inside is asked for. Where a plain document itself begins, which is
 * asked of every resource, is seen at its `body`.
 */
function locator({ text, placeOf }: Text, read: (places: Places) => unknown, body?: number): Document['locate'] {
  let places: Places | undefined
  return (path, at = 'value') => {
    if (!placeOf(0)) return undefined
    if (path === '' && body !== undefined) return placeOf(contentFrom(text, body, text.length))
    if (!places) {
      places = new Map()
      read(places)
    }
    const place = placeIn(places, path)
    return place && placeOf(place[at])
  }
}
