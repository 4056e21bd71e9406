// One document on its way to a resource: everything that can be said about it without looking at the others (levels 2, 3, 5).
import { byName } from '../../lib/by-name.ts'
import type { Json } from '../../lib/json.ts'
import { markedFields } from '../../resources/fields.ts'
import { groupOf, type Kind, type NamedReference, type Spec } from '../../resources/kind.ts'
import type { Lifecycle } from '../../resources/metadata.ts'
import { addressOf, type EnvUse } from '../model/bundle.ts'
import type { Document } from '../model/source.ts'
import type { BundleOptions } from '../request.ts'
import { type DisplayNameRead, readDisplayName } from './display-name.ts'
import { type Substitution, startSubstitution, substitute } from './env-refs.ts'
import { type Envelope, readEnvelope } from './envelope.ts'
import type { KindIndex } from './kind-index.ts'
import { readLifecycle } from './lifecycle.ts'
import { readMovedFrom, readName } from './name.ts'
import type { Complaint } from './problems.ts'
import { readSecrets } from './secret-refs.ts'
import { readSpec } from './spec.ts'
import { type Pointer, readAssociations, readReferences } from './targets.ts'
import { isBelow, isMapping, isWithin, type Mapping, ownValue, withoutKeys } from './values.ts'

/** The levels that look at all resources add to `complaints`, and to nothing else. */
export interface Draft {
  readonly document: Document
  readonly complaints: Complaint[]
  /** What the document names, right or wrong: a reference to it is not missing. Null where it cannot be told. */
  readonly meant: { readonly kind: Kind | null; readonly name: string | null }
  /** A kind that there is and a valid name. */
  readonly identity: Identity | null
  readonly missingEnv: readonly string[]
  readonly usedEnv: readonly string[]
  readonly secretKeys: readonly string[]
  /** What could be read of it, right or wrong; null when not even the kind is known, or there is no spec to read. */
  readonly content: Content | null
  /** Nothing is wrong with the resource itself, so that its content is what was meant. */
  readonly isSound: boolean
}

export interface Identity {
  readonly kind: Kind
  readonly group: string
  readonly name: string
  /** `Label/edge`, with the platform before it where that is not Cairn's own. */
  readonly address: string
  readonly movedFrom: readonly string[]
  readonly displayName: string | null
  /** By spec.name. */
  readonly hasOwnDisplayName: boolean
  /** Comes from outside and is not known yet. */
  readonly isOpen: { readonly name: boolean; readonly displayName: boolean }
}

export interface Content {
  readonly group: string
  readonly spec: Spec
  readonly lifecycle: Lifecycle
  readonly associations: readonly Pointer[]
  /** In the places of the document. */
  readonly references: readonly Pointer[]
  readonly named: readonly NamedReference[]
  readonly envUses: readonly EnvUse[]
}

export interface DraftSettings {
  readonly index: KindIndex
  readonly env: Readonly<Record<string, Json>>
  readonly defaultApiVersion: string
  readonly options: BundleOptions
  readonly associationLimit: number
  readonly platformOf: ReadonlyMap<string, string>
}

export function draftOf(document: Document, settings: DraftSettings): Draft {
  const mayHaveMore = settings.options.unknownKeys === 'warn'
  const envelope = readEnvelope(document, { ...settings, mayHaveMore })
  const found = startSubstitution(settings.env)
  const name = nameOf(envelope, substitute(envelope.metadata.name, namePath, found), found)
  const lifecycle = substitute(envelope.metadata.lifecycle, 'metadata.lifecycle', found)
  const spec = substitute(envelope.spec, 'spec', found)
  const moved = readMovedFrom(envelope.metadata.movedFrom)
  const { kind } = envelope
  const body = kind && isMapping(spec) ? readBody(kind, { spec, lifecycle, envelope, name, found, settings }) : null
  const all = settle(
    [
      ...envelope.complaints,
      ...name.complaints,
      ...moved.complaints,
      ...found.complaints,
      ...(settings.options.skipValidation ? [] : (body?.complaints ?? [])),
    ],
    mayHaveMore,
  )
  const isSound = all.every(({ warning }) => warning)
  return {
    document,
    complaints: notReported(all, document),
    meant: { kind: envelope.meantKind, name: name.isOpen ? null : name.written },
    identity:
      kind && name.valid !== null
        ? {
            kind,
            group: groupOf(kind.apiVersion),
            name: name.valid,
            address: addressOf({ kind, name: name.valid }, settings.platformOf.get(kind.kind)),
            movedFrom: moved.names,
            displayName: body?.display.displayName ?? null,
            hasOwnDisplayName: body?.display.isWritten ?? false,
            isOpen: { name: name.isOpen, displayName: body?.isDisplayNameOpen ?? false },
          }
        : null,
    missingEnv: found.missing,
    usedEnv: found.keys,
    secretKeys: body?.secretKeys ?? [],
    content: body && { ...body.content, envUses: found.uses.toSorted(byPath) },
    isSound,
  }
}

function notReported(complaints: Complaint[], { reported = [] }: Document): Complaint[] {
  if (reported.length === 0) return complaints
  const places = new Set(reported)
  return places.has('') ? [] : complaints.filter(({ path }) => !isWithin(path, places))
}

const namePath = 'metadata.name'

interface Name {
  readonly written: string | null
  /** The name as an identity; a placeholder is one too. */
  readonly valid: string | null
  readonly isOpen: boolean
  readonly complaints: readonly Complaint[]
}

function nameOf({ metadata, complaints }: Envelope, value: unknown, found: Substitution): Name {
  const { written, complaints: wrong } = readName(value)
  const isOpen = found.unknown.has(namePath)
  // What says no kind is hardly a resource yet: that it has no name either is not worth a second Problem.
  const isUntold =
    isOpen || !metadata.isNamed || (written === null && complaints.some(({ code }) => code === 'kind.missing'))
  const isValid = metadata.isNamed && (isOpen || wrong.length === 0)
  return { written, valid: isValid ? written : null, isOpen, complaints: isUntold ? [] : wrong }
}

interface Body {
  readonly content: Omit<Content, 'envUses'>
  readonly secretKeys: readonly string[]
  readonly display: DisplayNameRead
  readonly isDisplayNameOpen: boolean
  readonly complaints: readonly Complaint[]
}

function readBody(
  kind: Kind,
  parts: {
    readonly spec: Mapping
    readonly lifecycle: unknown
    readonly envelope: Envelope
    readonly name: Name
    readonly found: Substitution
    readonly settings: DraftSettings
  },
): Body {
  const { envelope, name, found, settings } = parts
  const around = { unknown: found.unknown, mayHaveMore: settings.options.unknownKeys === 'warn' }
  const marked = markedFields(kind.spec, parts.spec)
  const { spec: clean, keys: secretKeys } = readSecrets(marked, parts.spec, found)
  const fields = withoutKeys(clean, ['name', 'associations'])
  const isDisplayNameOpen = ownValue(clean, 'name') === undefined ? name.isOpen : found.unknown.has('spec.name')
  const display = readDisplayName(kind, ownValue(clean, 'name'), { name: name.valid, isOpen: isDisplayNameOpen })
  const associations = readAssociations(kind, ownValue(clean, 'associations'), {
    ...around,
    path: envelope.associationsPath,
    limit: settings.associationLimit,
  })
  const references = readReferences(kind, marked, around)
  const unknown = references.faulty.length > 0 ? new Set([...found.unknown, ...references.faulty]) : found.unknown
  const read = readSpec(kind, fields, { uses: found.uses, unknown }, around.mayHaveMore)
  const lifecycle = readLifecycle(kind, parts.lifecycle, around)
  return {
    content: {
      group: groupOf(kind.apiVersion),
      spec: read.spec,
      lifecycle: lifecycle.lifecycle,
      associations: associations.pointers,
      references: references.pointers,
      named: read.named,
    },
    secretKeys,
    display,
    isDisplayNameOpen,
    complaints: [display, associations, references, read, lifecycle].flatMap(({ complaints }) => complaints),
  }
}

const byPath = (a: EnvUse, b: EnvUse) => byName(a.path, b.path)

/** Each thing once, and nothing about what stands below an unknown key. */
function settle(complaints: readonly Complaint[], mayHaveMore: boolean): Complaint[] {
  if (complaints.length === 0) return []
  const strange = new Set(complaints.filter(({ code }) => code === 'key.unknown').map(({ path }) => path))
  const once = new Map<string, Complaint>()
  for (const complaint of complaints) {
    const { code, path, reason } = complaint
    const isStrange = code === 'key.unknown'
    if (isStrange ? isBelow(path, strange) : isWithin(path, strange)) continue
    const told = `${code} ${path} ${reason}`
    if (!once.has(told)) once.set(told, isStrange && mayHaveMore ? { ...complaint, warning: true } : complaint)
  }
  return [...once.values()]
}
