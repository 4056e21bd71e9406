// What a document says about itself: kind, apiVersion, metadata, spec. Values may still be envRefs; nothing of spec is checked.

import { fieldPath } from '../../lib/located-json.ts'
import { nearest } from '../../lib/suggest.ts'
import type { Kind } from '../../resources/kind.ts'
import type { Document } from '../model/source.ts'
import type { KindIndex } from './kind-index.ts'
import {
  apiVersionUnknown,
  associationSpelling,
  type Complaint,
  keyUnknown,
  kindMissing,
  kindUnknown,
  notMapping,
  statusDropped,
  valueType,
} from './problems.ts'
import { isMapping, type Mapping, ownValue, withoutKeys } from './values.ts'

export interface Envelope {
  readonly document: Document
  /** Null when the document says none that there is. */
  readonly kind: Kind | null
  /** The kind that was perhaps meant, or at least written. Nothing is checked by it. */
  readonly meantKind: Kind | null
  readonly metadata: Metadata
  /** Null when there is none to be read; an absent spec is an empty one. */
  readonly spec: Mapping | null
  /** `spec.associations`, or as it was misspelt. */
  readonly associationsPath: string
  readonly complaints: readonly Complaint[]
}

export interface Metadata {
  /** False when it, or the name in it, stands under a misspelt key: a Problem already. */
  readonly isNamed: boolean
  readonly name: unknown
  readonly movedFrom: unknown
  readonly lifecycle: unknown
}

const documentKeys = ['apiVersion', 'kind', 'metadata', 'spec', 'status']
const metadataKeys = ['name', 'movedFrom', 'lifecycle']

export interface EnvelopeSettings {
  readonly index: KindIndex
  readonly defaultApiVersion: string
  /** Unknown keys are told, and passed over. */
  readonly mayHaveMore: boolean
}

export function readEnvelope(document: Document, settings: EnvelopeSettings): Envelope {
  const { value } = document
  if (!isMapping(value)) return unreadable(document, notMapping(value))
  const complaints = unknownKeys(value, '', documentKeys)
  const misspelt: Misspelt = settings.mayHaveMore ? () => null : misspeltKey
  if (ownValue(value, 'status') !== undefined) complaints.push(statusDropped())
  const kind = readKind(value, settings, misspelt, complaints)
  const metadata = readMetadata(value, misspelt, complaints)
  return { document, ...kind, metadata, ...readSpec(value, misspelt, complaints), complaints }
}

function unreadable(document: Document, complaint: Complaint): Envelope {
  return {
    document,
    kind: null,
    meantKind: null,
    metadata: { isNamed: false, name: undefined, movedFrom: undefined, lifecycle: undefined },
    spec: null,
    associationsPath: 'spec.associations',
    complaints: [complaint],
  }
}

function readKind(
  value: Mapping,
  { index, defaultApiVersion }: EnvelopeSettings,
  misspelt: Misspelt,
  complaints: Complaint[],
): Pick<Envelope, 'kind' | 'meantKind'> {
  const stated = ownValue(value, 'apiVersion') ?? defaultApiVersion
  const kind = ownValue(value, 'kind')
  if (typeof stated !== 'string') complaints.push(valueType('apiVersion', 'text', stated))
  else if (!index.apiVersions.includes(stated))
    complaints.push(apiVersionUnknown('apiVersion', stated, index.apiVersions))
  if (kind === undefined || kind === null || kind === '') {
    if (misspelt(value, 'kind', documentKeys) === null) complaints.push(kindMissing())
    return { kind: null, meantKind: null }
  }
  if (typeof kind !== 'string') {
    complaints.push(valueType('kind', 'text', kind))
    return { kind: null, meantKind: null }
  }
  const isVersionKnown = typeof stated === 'string' && index.apiVersions.includes(stated)
  const found = isVersionKnown ? index.find(stated, kind) : null
  if (found) return { kind: found, meantKind: found }
  const guess = index.guess(kind)
  // Under an unknown apiVersion, a kind that exists elsewhere is right as it stands.
  if (isVersionKnown || guess.kind?.kind !== kind)
    complaints.push(kindUnknown(kind, isVersionKnown ? stated : 'Cairn', guess.hint))
  return { kind: null, meantKind: guess.kind }
}

function readMetadata(value: Mapping, misspelt: Misspelt, complaints: Complaint[]): Metadata {
  const elsewhere = Object.hasOwn(value, 'metadata') ? null : misspelt(value, 'metadata', documentKeys)
  const metadata = ownValue(value, elsewhere ?? 'metadata')
  const isWritten = metadata !== undefined && metadata !== null
  if (!isMapping(metadata)) {
    if (isWritten && elsewhere === null) complaints.push(valueType('metadata', 'a mapping', metadata))
    return { isNamed: !isWritten && elsewhere === null, name: undefined, movedFrom: undefined, lifecycle: undefined }
  }
  if (elsewhere === null) complaints.push(...unknownKeys(metadata, 'metadata', metadataKeys))
  const misspeltName = Object.hasOwn(metadata, 'name') ? null : misspelt(metadata, 'name', metadataKeys)
  return {
    isNamed: elsewhere === null && misspeltName === null,
    name: ownValue(metadata, misspeltName ?? 'name'),
    movedFrom: elsewhere === null ? ownValue(metadata, 'movedFrom') : undefined,
    lifecycle: elsewhere === null ? ownValue(metadata, 'lifecycle') : undefined,
  }
}

function readSpec(
  value: Mapping,
  misspelt: Misspelt,
  complaints: Complaint[],
): Pick<Envelope, 'spec' | 'associationsPath'> {
  const spec = ownValue(value, 'spec') ?? {}
  const associationsPath = 'spec.associations'
  if (!isMapping(spec)) {
    complaints.push(valueType('spec', 'a mapping', spec))
    return { spec: null, associationsPath }
  }
  // A misspelt spec is a Problem already; what is missing in its place is none.
  if (!Object.hasOwn(value, 'spec') && misspelt(value, 'spec', documentKeys) !== null)
    return { spec: null, associationsPath }
  if (!Object.hasOwn(spec, 'association') || Object.hasOwn(spec, 'associations')) return { spec, associationsPath }
  complaints.push(associationSpelling())
  return {
    spec: { ...withoutKeys(spec, ['association']), associations: ownValue(spec, 'association') },
    associationsPath: 'spec.association',
  }
}

/** The unknown key that was probably meant to be this one. */
type Misspelt = (mapping: Mapping, wanted: string, known: readonly string[]) => string | null

const misspeltKey: Misspelt = (mapping, wanted, known) =>
  Object.keys(mapping).find(key => !known.includes(key) && nearest(key, known) === wanted) ?? null

const unknownKeys = (mapping: Mapping, path: string, known: readonly string[]): Complaint[] =>
  Object.keys(mapping)
    .filter(key => !known.includes(key))
    .map(key => keyUnknown(fieldPath(path, key), key, known))
