// cairn apply from flags to the last line: asks for what is missing, shows the plan, asks once, does that plan and no other.
// Where nobody can answer it refuses instead of asking.
import type { ApplyAnswer, PlanAnswer, StepProgress } from '../bundles/request.ts'
import { printDuration } from '../lib/duration.ts'
import { ProblemsError } from '../lib/errors.ts'
import type { Problem } from '../lib/problem.ts'
import { ApiError, type CallOf, type Client } from '../server/client.ts'
import * as routes from '../server/contract/bundles.ts'
import { askForPlan, type PlanFile, type PlanValues, requestOf, stackOf } from './bundle-commands.ts'
import { askSecret, secretsOf } from './bundle-input.ts'
import { type Answer, answer, type Session } from './command.ts'
import { applyOptionsOf, type ConfirmValues, confirmPlan } from './confirm-plan.ts'
import { textOf, withServer } from './server.ts'
import { UsageError } from './usage.ts'
import { exitOfApplied, printApplied } from './views/bundle-apply.ts'

export interface ApplyValues extends PlanValues, ConfirmValues {
  readonly plan?: string
  readonly wait?: number
}

type Applied = ApplyAnswer & {
  readonly readiness?: {
    readonly ready: boolean
    readonly waiting: readonly { kind: string; name: string; reason: string }[]
  }
}

export async function applyBundle(values: ApplyValues, session: Session): Promise<Answer> {
  return withServer(values, async client => {
    const applied =
      values.plan === undefined
        ? await applyFiles(values, session, client)
        : await applyPlan(values.plan, values, session, client)
    return answer({ report: applied, print: printApplied, exit: exitOfApplied(applied) })
  })
}

async function applyFiles(values: ApplyValues, session: Session, client: Client): Promise<Applied> {
  const given = await requestOf(values, session)
  const body = { ...given, ...(values.noStack && { noStack: true as const }), ...(await stackOf(client, values)) }
  const planned = await withMissingValues(await plannedOf(client, body), body, session, client)
  await confirmPlan(planned.plan.plan, values, session, planned.plan)
  const { id, basis, expiresAt } = planned.plan.plan
  return send(client, session, { ...planned.body, expectPlan: { id, basis, expiresAt }, ...optionsOf(values) })
}

type Body = Awaited<ReturnType<typeof requestOf>> & { noStack?: true; stack?: string; stackName?: string }

async function plannedOf(client: Client, body: Body): Promise<PlanAnswer> {
  const plan = await askForPlan(client, body)
  if (plan.problems.length > 0) throw new ProblemsError(plan.problems)
  return plan
}

/** Asks for env values first, since names may depend on them, then for secrets; and plans anew with them. */
async function withMissingValues(
  plan: PlanAnswer,
  body: Body,
  session: Session,
  client: Client,
): Promise<{ plan: PlanAnswer; body: Body }> {
  const { missingEnvRefs, missingSecrets } = plan.summary
  if (missingEnvRefs.length + missingSecrets.length === 0) return { plan, body }
  const { ask } = session.terminal
  if (!ask) throw new ProblemsError(missingProblems(plan.summary))
  const env: Record<string, string> = {}
  const secrets: Record<string, string> = {}
  for (const key of missingEnvRefs) env[key] = await ask(`Value of ${key}: `)
  for (const key of missingSecrets) secrets[key] = await askSecret(key, session)
  const complete = { ...body, env: { ...body.env, ...env }, secrets: { ...body.secrets, ...secrets } }
  return { plan: await plannedOf(client, complete), body: complete }
}

const missingProblems = ({ missingEnvRefs, missingSecrets }: PlanAnswer['summary']): Problem[] => [
  ...missingEnvRefs.map(key => ({
    code: 'env.missing' as const,
    path: key,
    reason: `the value ${key} was not given`,
    hint: `--env ${key}=VALUE`,
  })),
  ...missingSecrets.map(key => ({
    code: 'secret.missing' as const,
    path: key,
    reason: `the secret ${key} was not given and is not set`,
    hint: `--secret ${key}, or cairn secret set ${key}`,
  })),
]

async function applyPlan(file: string, values: ApplyValues, session: Session, client: Client): Promise<Applied> {
  if (values.file || values.url)
    throw new UsageError('usage.bad-value', '--plan holds its bundle; -f and -u do not go with it')
  const { answer } = planFile(file)
  await confirmPlan(answer.plan, values, session, answer)
  return send(client, session, {
    planId: answer.plan.id,
    secrets: await secretsOf(values, session),
    ...optionsOf(values),
  })
}

function planFile(file: string): PlanFile {
  const text = textOf(file, '--plan')
  try {
    const read = JSON.parse(text) as Partial<PlanFile>
    if (read.cairnPlan === 1 && read.answer) return read as PlanFile
  } catch {
    // Said below, in the same words as for JSON of another sort.
  }
  throw new ProblemsError([
    { code: 'plan.unreadable', path: '--plan', reason: `${file} is not a plan`, hint: 'cairn plan -o FILE makes one.' },
  ])
}

function optionsOf(values: ApplyValues) {
  return {
    ...applyOptionsOf(values),
    cancelOnDisconnect: true,
    ...(values.wait !== undefined && { wait: printDuration(values.wait) }),
  }
}

type ApplyBody = NonNullable<CallOf<typeof routes.applyBundle>['body']>

async function send(client: Client, session: Session, body: ApplyBody): Promise<Applied> {
  const show = showSteps(session)
  try {
    return (await client.stream(routes.applyBundle, { body, onProgress: show })) as Applied
  } catch (error) {
    // What was tried, failed and was taken back is an answer too.
    if (error instanceof ApiError && error.status >= 500 && isApplied(error.body)) return error.body
    throw error
  }
}

const isApplied = (body: unknown): body is Applied => typeof body === 'object' && body !== null && 'outcome' in body

/** Beyond this many, steps are no longer read one by one. */
const mostSteps = 40

function showSteps({ progress }: Session): (step: StepProgress) => void {
  const tasks = new Map<number, ReturnType<typeof progress.begin>>()
  return ({ seq, action, resource, state }) => {
    if (state === 'failed' && !tasks.has(seq)) progress.begin(`${action} ${resource}`).fail('failed')
    if (state === 'undone') progress.begin(`take back ${action} ${resource}`).done()
    if (seq > mostSteps) return
    if (state === 'running') tasks.set(seq, progress.begin(`${action} ${resource}`))
    else if (state === 'done') tasks.get(seq)?.done(seq === mostSteps ? 'and so on' : '')
    else if (state === 'failed') tasks.get(seq)?.fail('failed')
  }
}
