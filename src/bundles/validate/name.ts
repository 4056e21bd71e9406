// metadata.name and movedFrom: names as they identify a resource in bundle and stack.
import { longestMetadataName, metadataNamePattern } from '../../resources/metadata.ts'
import { type Complaint, nameInvalid, nameMissing, nameTooLong, valueType } from './problems.ts'
import { textOfNumber } from './values.ts'

export interface ReadName {
  /** What was written, as text, even where it is no valid name: others may refer to it. */
  readonly written: string | null
  readonly complaints: readonly Complaint[]
}

export function readName(value: unknown): ReadName {
  if (value === undefined || value === null || value === '') return { written: null, complaints: [nameMissing()] }
  return readText(value, 'metadata.name')
}

export function readMovedFrom(value: unknown): { names: readonly string[]; complaints: readonly Complaint[] } {
  if (value === undefined || value === null) return { names: [], complaints: [] }
  const read = Array.isArray(value)
    ? value.map((name, index) => readText(name, `metadata.movedFrom[${index}]`))
    : [readText(value, 'metadata.movedFrom')]
  return {
    names: [...new Set(read.flatMap(({ written, complaints }) => (complaints.length > 0 ? [] : [written!])))],
    complaints: read.flatMap(({ complaints }) => complaints),
  }
}

function readText(value: unknown, path: string): ReadName {
  const written = typeof value === 'number' ? textOfNumber(value) : value
  if (typeof written !== 'string') return { written: null, complaints: [valueType(path, 'a name', value)] }
  if (!metadataNamePattern.test(written))
    return { written, complaints: [nameInvalid(path, written, validSpelling(written))] }
  if (written.length > longestMetadataName)
    return { written, complaints: [nameTooLong(path, written, validSpelling(written))] }
  return { written, complaints: [] }
}

/** '' when nothing of it could be in a name. */
const validSpelling = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, longestMetadataName)
    .replace(/[-_]+$/, '')
