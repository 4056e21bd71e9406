// No two resources of a bundle are the same, or look the same, or claim the same past.
import type { SourceRange } from '../../lib/problem.ts'
import type { Draft, Identity } from './draft.ts'
import { displayNameDuplicate, movedConflict, nameConfusable, nameDuplicate } from './problems.ts'

/** A draft that has an identity. */
export type Identified = Draft & { readonly identity: Identity }

export const isIdentified = (draft: Draft): draft is Identified => draft.identity !== null

/** Those that came first with their identity; complains about the others. */
export function firstOfEach(drafts: readonly Identified[]): Identified[] {
  const firsts = new Map<string, Identified>()
  for (const draft of drafts) {
    const first = firsts.get(identityKey(draft.identity))
    if (first) draft.complaints.push(nameDuplicate(draft.identity.address, placeOf(first, 'metadata.name')))
    else firsts.set(identityKey(draft.identity), draft)
  }
  return [...firsts.values()]
}

/** Complains about names that clash in another way. `drafts` have an identity each of their own. */
export function checkNames(drafts: readonly Identified[]): void {
  checkDisplayNames(drafts)
  checkConfusable(drafts)
  checkMoved(drafts)
}

function checkDisplayNames(drafts: readonly Identified[]): void {
  const firsts = new Map<string, Identified>()
  for (const draft of drafts) {
    const { kind, displayName, isOpen } = draft.identity
    if (!kind.displayName.unique || displayName === null || isOpen.displayName) continue
    const key = `${familyKey(draft.identity)} ${displayName}`
    const first = firsts.get(key)
    if (!first) firsts.set(key, draft)
    // Two that are both called by metadata.name would be one identity: at least one of them has a spec.name.
    else if (draft.identity.hasOwnDisplayName)
      draft.complaints.push(displayNameDuplicate('spec.name', displayName, placeOf(first, displayPlace(first))))
    else first.complaints.push(displayNameDuplicate('spec.name', displayName, placeOf(draft, displayPlace(draft))))
  }
}

function checkConfusable(drafts: readonly Identified[]): void {
  const firsts = new Map<string, Identified>()
  for (const draft of drafts) {
    const { name, isOpen } = draft.identity
    if (isOpen.name) continue
    const key = `${familyKey(draft.identity)} ${name.replaceAll('_', '-')}`
    const first = firsts.get(key)
    if (!first) firsts.set(key, draft)
    else draft.complaints.push(nameConfusable(name, placeOf(first, 'metadata.name')))
  }
}

function checkMoved(drafts: readonly Identified[]): void {
  const present = new Map(drafts.map(draft => [identityKey(draft.identity), draft]))
  const claimed = new Map<string, Identified>()
  for (const draft of drafts)
    for (const name of draft.identity.movedFrom) {
      const key = `${familyKey(draft.identity)} ${name}`
      const path = movedPlace(draft, name)
      const still = present.get(key)
      const other = claimed.get(key)
      if (still)
        draft.complaints.push(movedConflict(path, name, `is still in the bundle: ${placeOf(still, 'metadata.name')}`))
      else if (other)
        draft.complaints.push(movedConflict(path, name, `is claimed by ${placeOf(other, movedPlace(other, name))} too`))
      else claimed.set(key, draft)
    }
}

const familyKey = ({ group, kind }: Identity) => `${group} ${kind.family}`

const identityKey = (identity: Identity) => `${familyKey(identity)} ${identity.name}`

const displayPlace = ({ identity }: Identified) => (identity.hasOwnDisplayName ? 'spec.name' : 'metadata.name')

/** Where in the document the name is claimed: the field, or the entry of its list. */
function movedPlace({ document }: Identified, name: string): string {
  const { metadata } = document.value as { metadata: { movedFrom: unknown } }
  const { movedFrom } = metadata
  return Array.isArray(movedFrom)
    ? `metadata.movedFrom[${movedFrom.findIndex(claimed => String(claimed) === name)}]`
    : 'metadata.movedFrom'
}

/** `Label/edge in labels.yaml:3:9`. */
function placeOf({ document, identity }: Identified, path: string): string {
  const source: SourceRange | undefined = document.locate(path)
  return `${identity.address} in ${source ? `${source.file}:${source.line}:${source.column}` : document.file}`
}
