// From complaints to Problems: the resource before the path, the place in the file, one order, and no more than can be read.
import { byName } from '../../lib/by-name.ts'
import { joinPaths } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Documents } from '../model/source.ts'
import type { Draft } from './draft.ts'
import { type Complaint, moreProblems } from './problems.ts'

export interface ToReport {
  readonly drafts: readonly Draft[]
  /** What reading told. */
  readonly read: Pick<Documents, 'problems' | 'warnings'>
  /** What is about no document. */
  readonly general: readonly Complaint[]
  /** In the order given. */
  readonly sources: readonly string[]
  readonly limit: number
}

/** Ordered by file as given, line, column, path; what has no place stands last. */
export function reportOf(all: ToReport): { problems: Problem[]; warnings: Problem[] } {
  return {
    problems: listOf(all, all.read.problems, ({ warning }) => !warning),
    warnings: listOf(all, all.read.warnings, ({ warning }) => warning === true),
  }
}

function listOf(
  { drafts, general, sources, limit }: ToReport,
  read: readonly Problem[],
  wanted: (complaint: Complaint) => boolean,
): Problem[] {
  const rank = new Map([...new Set(sources)].map((file, index) => [file, index]))
  const rankOf = ({ file }: Placed) => (file === undefined ? rank.size + 1 : (rank.get(file) ?? rank.size))
  const { first, more } = placedProblems(drafts, wanted, limit)
  const ordered = [...read.map(problem => ({ problem, file: problem.source?.file, index: 0 })), ...first]
    .sort((a, b) => rankOf(a) - rankOf(b) || byPlace(a, b))
    .map(({ problem }) => problem)
  const told = once([...ordered, ...general.filter(wanted).map(bare)])
  const rest = told.length - limit + more
  return rest > 0 ? [...told.slice(0, limit), moreProblems(rest)] : told
}

interface Placed {
  readonly problem: Problem
  readonly file: string | undefined
  readonly index: number
}

/** Documents stand in the order of their files, so those after the limit need not be looked up at all. */
function placedProblems(
  drafts: readonly Draft[],
  wanted: (complaint: Complaint) => boolean,
  limit: number,
): { first: Placed[]; more: number } {
  const first: Placed[] = []
  let more = 0
  for (const draft of drafts) {
    const complaints = draft.complaints.filter(wanted)
    if (first.length > limit) more += complaints.length
    else
      for (const complaint of complaints)
        first.push({ problem: placed(complaint, draft), file: draft.document.file, index: draft.document.index })
  }
  return { first, more }
}

function placed(complaint: Complaint, { document, identity }: Draft): Problem {
  const owner = identity?.address ?? `resources[${document.index}]`
  const source = document.locate(complaint.path, complaint.at ?? 'value')
  return { ...bare(complaint), path: joinPaths(owner, complaint.path), ...(source && { source }) }
}

const bare = ({ code, path, reason, hint }: Complaint): Problem => ({ code, path, reason, ...(hint && { hint }) })

/** In a file without places, documents stand in their order. */
const byPlace = (a: Placed, b: Placed) =>
  (a.problem.source?.line ?? 0) - (b.problem.source?.line ?? 0) ||
  (a.problem.source?.column ?? 0) - (b.problem.source?.column ?? 0) ||
  a.index - b.index ||
  byName(a.problem.path, b.problem.path) ||
  byName(a.problem.code, b.problem.code)

function once(problems: readonly Problem[]): Problem[] {
  const byText = new Map(problems.map(problem => [JSON.stringify(problem), problem]))
  return [...byText.values()]
}
