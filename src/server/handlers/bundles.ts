// Bundles: plan, apply, export. The engine does the work; here a request becomes its request, and its answer a status.
import type * as z from 'zod'
import type { Watch } from '../../bundles/engine.ts'
import { exportedYaml } from '../../bundles/export/text.ts'
import type { BundleRequest, PlanAnswer } from '../../bundles/request.ts'
import { parseDuration } from '../../lib/duration.ts'
import { ProblemsError, RefusedError } from '../../lib/errors.ts'
import type { Problem } from '../../lib/problem.ts'
import { assertMayPlan } from '../authorize.ts'
import type { applyBundle } from '../contract/bundles.ts'
import { failureBody, failureOf, HttpFailure, refuse } from '../failure.ts'
import { createProgressStream } from '../progress-stream.ts'
import { awaitReadiness } from '../readiness.ts'
import { requestOf, secretsOf } from './bundle-request.ts'
import { defined } from './defined.ts'
import type { Call, HandlerPorts, Handlers } from './handler.ts'
import { assertOutcome } from './outcome.ts'

type ApplyCall = Call<typeof applyBundle>

export function bundleHandlers(ports: HandlerPorts): Pick<Handlers, 'planBundle' | 'applyBundle' | 'exportBundle'> {
  const { engine, metrics } = ports
  return {
    planBundle: async call => {
      const { noStack, validateOnly, save = false, secrets } = call.body
      assertMayPlan(call.who, { saves: save, hasSecrets: Object.keys(secrets).length > 0 })
      const { request, problems } = await requestOf(ports, call, call.body)
      const answer = validateOnly
        ? await engine.validate(request)
        : await engine.plan(request, { ...(save && problems.length === 0 && { save }), ...(noStack && { noStack }) })
      return { body: unlessInvalid(answer, problems) }
    },

    applyBundle: async call => {
      const stream = call.accept === 'application/x-ndjson' ? createProgressStream(call.reply) : null
      try {
        const { status, body } = await apply(ports, call, stream?.onProgress)
        metrics.applied(body.outcome.did)
        call.note(body.stackId ?? '', { outcome: body.outcome.did, counts: body.plan.counts })
        if (stream?.begun) {
          stream.end({ ...body, status })
          return { streamed: status }
        }
        return {
          status,
          body,
          ...(status === 201 && { headers: { location: `/api/v1/stacks/${body.stackId}` } }),
        }
      } catch (error) {
        const failure = failureOf(error)
        const outcome = failure.more?.outcome as { did?: string } | undefined
        metrics.applied(outcome?.did ?? 'refused')
        if (!stream?.begun) throw error
        stream.end(failureBody(failure))
        return { streamed: failure.status, failed: error }
      }
    },

    exportBundle: async call => {
      const { body } = call
      const exported = await engine.export({
        ...defined(body),
        stacks: body.stacks,
        resources: body.resources.map(defined),
        filters: defined(body.filters),
      })
      if (exported.problems.length > 0) throw new ProblemsError(exported.problems)
      const headers = exported.warnings.length > 0 ? { 'x-cairn-warnings': inHeader(exported.warnings) } : {}
      return call.accept === 'application/yaml'
        ? { text: exportedYaml(exported.resources), type: 'application/yaml', headers }
        : { body: exported.resources as never, headers }
    },
  }
}

async function apply(ports: HandlerPorts, call: ApplyCall, onProgress: Watch['onProgress']) {
  const { engine, underway } = ports
  const { body } = call
  const waitMs = body.wait === undefined ? 0 : parseDuration(body.wait, 'wait')
  const operation = {
    confirm: body.confirm,
    lockWaitMs: body.lockWait === undefined ? 0 : parseDuration(body.lockWait, 'lockWait'),
    by: call.who.name,
  }
  if ('planId' in body && call.query.stack !== undefined)
    throw refuse(400, { code: 'request.given-twice', path: 'query.stack', reason: 'a saved plan has its stack' })
  const answer = await underway.run(async stop => {
    const watch = watching(call, stop, onProgress)
    if ('planId' in body)
      return engine.applySaved(body.planId, { ...operation, secrets: secretsOf(body.secrets, ports.limits) }, watch)
    const { request, problems } = await requestOf(ports, call, body)
    const { noStack, expectPlan } = body
    if (problems.length > 0) throw invalid(await engine.plan(request, noStack ? { noStack } : {}), problems)
    call.note(request.stack ?? request.stackName ?? '')
    try {
      return await engine.apply(
        { ...request, ...operation, ...(noStack && { noStack }), ...(expectPlan && { expectPlan }) },
        watch,
      )
    } catch (error) {
      throw await withPlan(ports, request, noStack, error)
    }
  })
  const valid = unlessInvalid(answer, [])
  assertOutcome(valid.outcome, valid)
  const readiness = waitMs > 0 ? { readiness: await ready(ports, call, valid, waitMs) } : {}
  const status = valid.outcome.did === 'applied' && valid.outcome.madeStack ? 201 : 200
  return { status, body: { ...valid, ...readiness } as z.input<(typeof applyBundle)['answer']> }
}

const watching = (call: ApplyCall, stop: AbortSignal, onProgress: Watch['onProgress']): Watch => ({
  signal: call.body.cancelOnDisconnect ? AbortSignal.any([stop, call.gone]) : stop,
  ...(onProgress && { onProgress }),
})

/** A refusal of a bundle says what would have been done. */
async function withPlan(
  { engine }: HandlerPorts,
  request: BundleRequest,
  noStack: boolean | undefined,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ProblemsError || error instanceof RefusedError)) return error
  const failure = failureOf(error)
  if (failure.status === 404 || failure.more) return error
  try {
    const { summary, plan, warnings } = await engine.plan(request, noStack ? { noStack } : {})
    return new HttpFailure({ ...failure, more: { summary, plan, warnings } })
  } catch {
    return error
  }
}

function unlessInvalid<Answer extends PlanAnswer>(answer: Answer, more: readonly Problem[]): Answer {
  if (more.length + answer.problems.length === 0) return answer
  throw invalid(answer, more)
}

/** The whole answer with the problems, as 422. Where a source could not be had, the bundle is not empty but unknown. */
function invalid(answer: PlanAnswer, more: readonly Problem[]): HttpFailure {
  const own = more.length > 0 ? answer.problems.filter(({ code }) => code !== 'bundle.empty') : answer.problems
  return new HttpFailure({ status: 422, problems: [...more, ...own], more: { ...answer } })
}

async function ready(
  ports: HandlerPorts,
  call: ApplyCall,
  answer: PlanAnswer & { stackId: string | null },
  waitMs: number,
) {
  const { database, clock, tail, underway } = ports
  const { platform, store } = database
  const stack = answer.stackId === null ? null : await store.stack(answer.stackId)
  const resources = stack
    ? stack.resources
    : answer.summary.resources.flatMap(({ kind, name, id }) => (id === undefined ? [] : [{ kind, name, id }]))
  return underway.run(stop =>
    awaitReadiness({
      resources,
      platform,
      onChange: tail.onChange,
      clock,
      waitMs,
      signal: AbortSignal.any([stop, call.gone]),
    }),
  )
}

/** The body is the bundle and nothing else, so warnings stand beside it: a few of them, in ASCII. */
const inHeader = (warnings: readonly Problem[]): string =>
  JSON.stringify(warnings.slice(0, 10).map(({ code, path, reason }) => ({ code, path, reason }))).replace(
    /[^\x20-\x7e]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
