// What is asked of the engine, and what it answers: one shape for the HTTP API, the command line and the tests.

import type { Json } from '../lib/json.ts'
import type { Problem, Warning } from '../lib/problem.ts'
import type { Secret } from '../lib/redact.ts'
import type { Confirmation, Plan } from './model/plan.ts'
import type { Source } from './model/source.ts'
import type { Summary } from './model/summary.ts'

/** Which resources are meant: all of a kind, or one. */
export interface Selector {
  readonly kind: string
  readonly name?: string
}

export interface BundleRequest {
  /** Id or name; absent with `noStack` false: a new stack is made at apply. */
  readonly stack?: string
  /** Name of the stack that apply makes. */
  readonly stackName?: string
  readonly sources: readonly Source[]
  readonly env: Readonly<Record<string, Json>>
  readonly secrets: Readonly<Record<string, Secret>>
  readonly skip: readonly Selector[]
  /** Take over live resources of the same unique display name that no stack owns. */
  readonly adopt?: 'byName'
  readonly defaultApiVersion?: string
  readonly options: BundleOptions
}

export interface BundleOptions {
  readonly allowEmpty?: boolean
  readonly unknownKeys?: 'error' | 'warn'
  /** For summary and plan only; apply refuses it. */
  readonly skipValidation?: boolean
}

export interface ApplyRequest extends BundleRequest {
  readonly confirm: readonly Confirmation[]
  /** Do it only if the plan comes out the same. */
  readonly expectPlan?: Pick<Plan, 'id' | 'basis' | 'expiresAt'>
  /** How long to wait for another's lock; 0: not at all. */
  readonly lockWaitMs: number
  /** Nothing recorded, nothing deleted. */
  readonly noStack?: boolean
  /** Who asks, for events and the lock. */
  readonly by: string
}

export interface PlanAnswer {
  readonly summary: Summary
  readonly plan: Plan
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/** A plan that was kept for a later apply, with the request it is of. Secret values are never in it. */
export interface SavedPlan {
  readonly plan: Plan
  readonly request: Omit<BundleRequest, 'secrets' | 'sources'> & {
    readonly sources: readonly {
      readonly name: string
      readonly content: string
      readonly encoding: 'json' | 'yaml'
      readonly evaluated?: boolean
    }[]
  }
}

export type Outcome =
  | { readonly did: 'nothing' }
  | { readonly did: 'applied'; readonly madeStack: boolean }
  | { readonly did: 'rolled back'; readonly failures: readonly Problem[] }
  | {
      readonly did: 'rollback incomplete'
      readonly failures: readonly Problem[]
      readonly leftovers: readonly Problem[]
    }

export interface ApplyAnswer extends PlanAnswer {
  readonly stackId: string | null
  readonly outcome: Outcome
}

/** One line of progress. */
export interface StepProgress {
  readonly seq: number
  readonly action: string
  /** `Label/edge`. */
  readonly resource: string
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'undone'
  readonly waitsFor?: readonly string[]
  readonly ms?: number
}
