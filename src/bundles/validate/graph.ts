// What resources say of each other: targets are there, of the right kind, associated once, and no circle of hard references.
// Whether a live target (`external`) is there, the planner says.
import { deepPath } from '../../lib/located-json.ts'
import { markedFields } from '../../resources/fields.ts'
import type { BundleReference, Target } from '../model/bundle.ts'
import { circlesOf } from './cycles.ts'
import type { Content, Draft } from './draft.ts'
import type { Identified } from './identity.ts'
import type { Neighbours } from './neighbours.ts'
import { type Complaint, referenceCycle, referenceDuplicate, referenceKind, referenceMissing } from './problems.ts'
import { type Pointer, readReferences, targetOf } from './targets.ts'

/** A draft with an identity and something in it. */
export type Whole = Identified & { readonly content: Content }

export const isWhole = (draft: Identified): draft is Whole => draft.content !== null

/** Complains about the references of all drafts, with or without a name, and about circles among those that are whole. */
export function checkGraph(all: readonly Draft[], whole: readonly Whole[], neighbours: Neighbours): void {
  for (const { content, complaints } of all) {
    if (!content) continue
    for (const pointer of [...content.associations, ...content.references])
      complaints.push(...targetProblems(pointer, content.group, neighbours))
    complaints.push(...repeated(content.associations))
  }
  checkCircles(whole, neighbours)
}

/** Where the references of a resource lead, with their places in the canonical spec. */
export function referencesOf({ identity, content }: Whole, neighbours: Neighbours): BundleReference[] {
  const { group, kind } = identity
  const fields = content.references.length > 0 ? markedFields(kind.spec, content.spec) : []
  const { pointers } = readReferences(kind, fields, { unknown: new Set(), mayHaveMore: true })
  const marked = pointers.map(pointer => ({
    path: pointer.path,
    target: resolved(pointer, group, neighbours),
    byDisplayName: false,
    optional: false,
  }))
  const named = content.named.map(({ path, kind, name, optional }) => {
    const found = neighbours.shown(group, kind, name)
    return {
      path: deepPath('spec', path),
      target: found ? { kind, name: found.identity.name } : { kind, external: name },
      byDisplayName: true,
      optional,
    }
  })
  return [...marked, ...named]
}

/** Sorted, each once. */
export const associationsOf = ({ content }: Whole): Target[] => {
  const byText = new Map(content.associations.map(pointer => [textOf(pointer), targetOf(pointer, pointer.kind!)]))
  return [...byText.keys()].sort().map(text => byText.get(text)!)
}

const textOf = ({ kind, name, external }: Pointer) => `${kind}/${name ?? ''} ${external ?? ''}`

function targetProblems(pointer: Pointer, group: string, neighbours: Neighbours): Complaint[] {
  const { path, name, kinds, isOpen } = pointer
  const wanted = pointer.kind === undefined ? kinds : [pointer.kind]
  const isUnsaid = wanted.length > 1
  if (name === undefined) return isUnsaid ? [referenceKind(path, 'does not say the kind', sayKind(kinds))] : []
  if (isOpen) return []
  const fitting = wanted.filter(kind => neighbours.find(group, kind, name))
  if (fitting.length === 1) return []
  if (fitting.length > 1)
    return [referenceKind(path, `fits ${fitting.map(kind => `${kind}/${name}`).join(' and ')}`, sayKind(fitting))]
  const hidden = wanted.map(kind => neighbours.isHidden(kind, name))
  if (hidden.includes('yes')) return []
  const other = neighbours.named(group, name)[0]
  if (other && pointer.form === 'reference')
    return [referenceKind(path, `must be a ${wanted.join(' or ')}; ${name} is a ${other.identity.kind.kind}`)]
  const near = wanted.map(kind => neighbours.nearest(group, kind, name)).find(found => found !== null)
  if (near === undefined && hidden.includes('perhaps')) return []
  return [
    referenceMissing(
      path,
      `${wanted.join(' or ')} ${JSON.stringify(name)}`,
      near && `did you mean ${JSON.stringify(near)}?`,
    ),
  ]
}

const sayKind = (kinds: readonly string[]) => `Write kind: ${kinds.join(' or kind: ')} beside the name.`

function repeated(associations: readonly Pointer[]): Complaint[] {
  const seen = new Set<string>()
  return associations.flatMap(pointer => {
    const text = textOf(pointer)
    if (seen.has(text)) return [referenceDuplicate(pointer.path, `${pointer.kind}/${pointer.name ?? pointer.external}`)]
    seen.add(text)
    return []
  })
}

function resolved(pointer: Pointer, group: string, neighbours: Neighbours): Target {
  const { name, kinds } = pointer
  const found = name === undefined ? undefined : kinds.find(kind => neighbours.find(group, kind, name))
  return targetOf(pointer, pointer.kind ?? found ?? kinds[0]!)
}

interface Edge {
  readonly to: string
  /** In the document. */
  readonly path: string
}

function checkCircles(drafts: readonly Whole[], neighbours: Neighbours): void {
  // What refers to nothing is in no circle.
  const referring = drafts.filter(({ content }) => content.references.length > 0 || content.named.length > 0)
  const byAddress = new Map(referring.map(draft => [draft.identity.address, draft]))
  const edges = new Map(referring.map(draft => [draft.identity.address, edgesOf(draft, neighbours)]))
  const graph = new Map([...edges].map(([from, to]) => [from, to.map(edge => edge.to)]))
  for (const circle of circlesOf(graph)) {
    const [from, to] = circle
    const edge = edges.get(from!)!.find(edge => edge.to === to)!
    byAddress.get(from!)!.complaints.push(referenceCycle(edge.path, circle))
  }
}

function edgesOf({ identity, content }: Whole, neighbours: Neighbours): Edge[] {
  const { group } = identity
  const marked = content.references.map(pointer => {
    const { kind, name } = resolved(pointer, group, neighbours)
    return { path: pointer.path, draft: name === undefined ? undefined : neighbours.find(group, kind, name) }
  })
  const named = content.named.map(({ path, kind, name }) => ({
    path: deepPath('spec', path),
    draft: neighbours.shown(group, kind, name),
  }))
  return [...marked, ...named].flatMap(({ path, draft }) => (draft ? [{ path, to: draft.identity.address }] : []))
}
