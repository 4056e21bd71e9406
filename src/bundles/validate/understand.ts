// From documents to a bundle. Everything that is wrong is told at once, and what could be understood is understood: a resource
// with a Problem of its own does not hide the others, and is itself in `invalid`, not in the bundle.
import type { Json } from '../../lib/json.ts'
import type { Problem, Warning } from '../../lib/problem.ts'
import { groupOf, type Kind } from '../../resources/kind.ts'
import { type Bundle, identityOf } from '../model/bundle.ts'
import type { Documents, Limits } from '../model/source.ts'
import type { Summary } from '../model/summary.ts'
import type { BundleOptions } from '../request.ts'
import { bundleOf, summaryOf } from './bundle.ts'
import { type Draft, draftOf } from './draft.ts'
import { checkGraph, isWhole } from './graph.ts'
import { checkNames, firstOfEach, isIdentified } from './identity.ts'
import { indexKinds, ownApiVersion } from './kind-index.ts'
import { neighboursOf } from './neighbours.ts'
import { apiVersionUnknown, bundleEmpty, type Complaint, envUnused } from './problems.ts'
import { reportOf } from './report.ts'

export interface Context {
  readonly kinds: readonly Kind[]
  readonly env: Readonly<Record<string, Json>>
  readonly defaultApiVersion?: string
  readonly options: BundleOptions
  readonly limits: Limits
  /** Names of all sources in the order given, also of those without a document; default: as the documents name them. */
  readonly sources?: readonly string[]
  /** Kind to the name of its platform, as it stands before addresses; Cairn's own ('') may be left out. */
  readonly platformOf?: ReadonlyMap<string, string>
}

export interface Understood {
  /** Resources of which all could be understood; with Problems between resources they are still in it. */
  readonly bundle: Bundle
  readonly summary: Summary
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** Keys without value and default, sorted. */
  readonly missingEnvRefs: readonly string[]
  /** Keys that resources refer to, sorted. */
  readonly secretKeys: readonly string[]
  /** Identities that stand in a document but not in the bundle: nothing may be concluded from their absence. */
  readonly invalid: ReadonlySet<string>
  /** Every document was read and says what it is: a resource that is neither in the bundle nor invalid is not there. */
  readonly isComplete: boolean
}

export function understand(documents: Documents, context: Context): Understood {
  const { options, limits } = context
  const drafts = draftsOf(documents, context)
  const isAllRead = documents.problems.length === reportedIn(documents)
  const firsts = firstOfEach(drafts.filter(isIdentified))
  const whole = firsts.filter(isWhole)
  const neighbours = neighboursOf(firsts, drafts, isAllRead)
  if (!options.skipValidation) {
    checkNames(firsts)
    checkGraph(drafts, whole, neighbours)
  }
  const bundle = bundleOf(
    whole.filter(({ isSound }) => isSound),
    neighbours,
  )
  const missingEnvRefs = sorted(drafts.flatMap(({ missingEnv }) => missingEnv))
  const sources = context.sources ?? documents.documents.map(({ file }) => file)
  return {
    bundle,
    summary: summaryOf(bundle, missingEnvRefs, sorted(sources)),
    ...reportOf({
      drafts,
      read: documents,
      general: generalComplaints(documents, drafts, context),
      sources,
      limit: limits.problems,
    }),
    missingEnvRefs,
    secretKeys: sorted(drafts.flatMap(({ secretKeys }) => secretKeys)),
    invalid: invalidOf(drafts, bundle),
    isComplete: isAllRead && drafts.every(({ meant }) => meant.kind && meant.name !== null),
  }
}

/** Problems of documents that are there all the same. */
const reportedIn = ({ documents }: Documents) => documents.reduce((sum, { reported = [] }) => sum + reported.length, 0)

function draftsOf({ documents }: Documents, context: Context): Draft[] {
  const { env, options, limits } = context
  const settings = {
    index: indexKinds(context.kinds),
    env,
    defaultApiVersion: defaultVersion(context),
    options,
    associationLimit: limits.associations,
    platformOf: context.platformOf ?? new Map<string, string>(),
  }
  return documents.map(document => draftOf(document, settings))
}

/** One that there is not is told once, not for every document. */
const defaultVersion = ({ kinds, defaultApiVersion }: Context) =>
  kinds.some(({ apiVersion }) => apiVersion === defaultApiVersion) ? defaultApiVersion! : ownApiVersion

function generalComplaints(
  { documents, problems }: Documents,
  drafts: readonly Draft[],
  context: Context,
): Complaint[] {
  const { kinds, env, defaultApiVersion, options } = context
  const complaints: Complaint[] = []
  const versions = [...new Set(kinds.map(({ apiVersion }) => apiVersion))]
  if (defaultApiVersion !== undefined && !versions.includes(defaultApiVersion))
    complaints.push(apiVersionUnknown('defaultApiVersion', defaultApiVersion, versions))
  if (documents.length === 0 && problems.length === 0 && !options.allowEmpty) complaints.push(bundleEmpty())
  if (problems.length === 0) {
    const used = new Set(drafts.flatMap(({ usedEnv }) => usedEnv))
    const unused = sorted(Object.keys(env)).filter(key => !used.has(key))
    const candidates = unused.length * used.size < 100_000 ? [...used] : []
    complaints.push(...unused.map(key => envUnused(key, candidates)))
  }
  return complaints
}

function invalidOf(drafts: readonly Draft[], bundle: Bundle): ReadonlySet<string> {
  const understood = new Set(
    bundle.resources.map(resource => `${groupOf(resource.apiVersion)} ${identityOf(resource)}`),
  )
  const invalid = new Set<string>()
  for (const { meant, identity } of drafts) {
    const kind = identity?.kind ?? meant.kind
    const name = identity?.name ?? meant.name
    if (!kind || name === null) continue
    if (!understood.has(`${groupOf(kind.apiVersion)} ${identityOf({ kind, name })}`))
      invalid.add(identityOf({ kind, name }))
  }
  return invalid
}

const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort()
