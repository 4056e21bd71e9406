// The stack commands between flags and the API, as far as they are more than one call.
import type { Plan } from '../bundles/model/plan.ts'
import type { Stack } from '../bundles/model/stack.ts'
import { pages } from '../lib/pages.ts'
import type { Client } from '../server/client.ts'
import * as routes from '../server/contract/stacks.ts'
import { selectorsOf } from './bundle-input.ts'
import { type Answer, answer, type Session } from './command.ts'
import { applyOptionsOf, confirmPlan } from './confirm-plan.ts'
import type { Values } from './parameter.ts'
import { type serverOptions, withServer } from './server.ts'
import type { removalOptions } from './stack-removal.ts'
import { exitOfOutcome, printOutcome } from './views/stack.ts'

type ServerValues = Values<typeof serverOptions>

export async function allStacks({
  name = [],
  ...values
}: ServerValues & { readonly name?: readonly string[] }): Promise<Stack[]> {
  return withServer(values, async client => {
    const stacks: Stack[] = []
    const named = name.length > 0 ? { name: [...name] } : {}
    const ask = (from: { readonly cursor?: string }) =>
      client.call(routes.listStacks, { query: { limit: 500, ...named, ...from } })
    for await (const page of pages(ask)) stacks.push(...page.stacks)
    return stacks
  })
}

/** `KIND/NAME[=AS]`, with `id:ID` in place of a display name. */
export async function importResources(stack: string, given: readonly string[], values: ServerValues) {
  const resources = given.map(word => {
    const [selector = '', as] = word.split(/=(.*)/s)
    const [{ kind, name = '' } = { kind: '' }] = selectorsOf([selector])
    const which = name.startsWith('id:') ? { id: name.slice(3) } : { displayName: name }
    return { kind, ...which, ...(as !== undefined && { name: as }) }
  })
  return withServer(values, client =>
    client.call(routes.importIntoStack, { params: { id: stack }, body: { resources } }),
  )
}

type RemovalValues = ServerValues & Values<typeof removalOptions> & { readonly stack: string }

export async function uninstall(values: RemovalValues, session: Session): Promise<Answer> {
  return withServer(values, async client => {
    const plan = await removalPlan(client, values)
    if (plan) await confirmPlan(plan, values, session)
    const { confirm, lockWait } = applyOptionsOf(values)
    const body = { confirm, ...(lockWait !== undefined && { lockWait }) }
    const report = await client.call(routes.uninstallStack, { params: { id: values.stack }, body })
    const done = `Uninstalled stack ${report.stack.name}. Its record stays; cairn apply --stack brings it back.`
    return answer({
      report,
      print: ({ outcome }, style) => printOutcome(outcome, style, done),
      exit: exitOfOutcome(report.outcome),
    })
  })
}

export async function deleteStack(
  values: RemovalValues & { readonly keepResources?: true },
  session: Session,
): Promise<Answer> {
  return withServer(values, async client => {
    const plan = values.keepResources ? null : await removalPlan(client, values)
    if (plan) await confirmPlan(plan, values, session)
    const { confirm, lockWait } = applyOptionsOf(values)
    const query = {
      confirm,
      ...(lockWait !== undefined && { lockWait }),
      ...(values.keepResources && { keepResources: 'true' as const }),
    }
    await client.call(routes.deleteStack, { params: { id: values.stack }, query })
    return answer({ report: { deleted: values.stack }, print: ({ deleted }) => `Stack ${deleted} is gone.` })
  })
}

async function removalPlan(client: Client, { stack }: { readonly stack: string }): Promise<Plan | null> {
  const { plan } = await client.call(routes.uninstallStack, { params: { id: stack }, body: { planOnly: true } })
  return plan ?? null
}
