// The settings of a stack, checked for form only: nothing is fetched.
import { durationOrProblem } from '../../lib/duration.ts'
import type { Problem } from '../../lib/problem.ts'
import { safeUrl } from '../../lib/safe-url.ts'
import type { Stack } from '../model/stack.ts'

export interface StackSettings {
  readonly name?: string
  readonly description?: string
  readonly urls?: readonly string[]
  /** Null takes it away. */
  readonly reconcile?: string | null
}

const schemes = ['https:', 'http:', 'file:']
const leastReconcileMs = 10_000

export function settingsProblems({ name, urls = [], reconcile }: StackSettings): Problem[] {
  const problems: Problem[] = []
  if (name !== undefined && name.trim() === '')
    problems.push({ code: 'value.missing', path: 'name', reason: 'a stack needs a name' })
  for (const [index, url] of urls.entries()) {
    const problem = urlProblem(url, `urls[${index}]`)
    if (problem) problems.push(problem)
  }
  if (typeof reconcile === 'string') {
    const ms = durationOrProblem(reconcile, 'reconcile')
    if (typeof ms !== 'number') problems.push(ms)
    else if (ms < leastReconcileMs)
      problems.push({ code: 'value.range', path: 'reconcile', reason: 'is shorter than 10s', hint: 'Write 5m or 1h.' })
  }
  return problems
}

function urlProblem(url: string, path: string): Problem | null {
  const parsed = URL.parse(url)
  if (!parsed || !schemes.includes(parsed.protocol))
    return { code: 'url.invalid', path, reason: 'is not an https URL', hint: 'Write https://host/path/bundle.yaml.' }
  if (parsed.username || parsed.password)
    return { code: 'url.credentials', path, reason: `${safeUrl(url)} must not have credentials in it` }
  return null
}

/** The settings as the record has them; the same values where nothing is given. */
export function settled(stack: Pick<Stack, 'name' | 'description' | 'config'>, given: StackSettings) {
  const { reconcile: former, ...config } = stack.config
  const reconcile = given.reconcile === undefined ? former : (given.reconcile ?? undefined)
  return {
    name: given.name ?? stack.name,
    description: given.description ?? stack.description,
    config: { ...config, urls: [...(given.urls ?? config.urls)], ...(reconcile !== undefined && { reconcile }) },
  }
}
