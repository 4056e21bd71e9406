// A value as the resources it holds: itself, or each item when it is a list. Problems go to the resource that they are of.
import { joinPaths } from '../../lib/located-json.ts'
import type { Problem } from '../../lib/problem.ts'
import type { Document } from '../model/source.ts'
import type { Found } from './decoder.ts'

export interface WholeValue {
  readonly value: unknown
  /** Paths and places are those of the whole. */
  readonly problems: readonly Problem[]
  readonly locate: Document['locate']
}

export function* resourcesOf({ value, problems, locate }: WholeValue): Generator<Found> {
  if (!Array.isArray(value)) return yield { is: 'resource', value, problems, locate }
  const byItem = Map.groupBy(problems, ({ path }) => itemPath.exec(path)?.[1] ?? '')
  const ofTheList = byItem.get('')
  if (ofTheList) yield { is: 'unreadable', problems: ofTheList }
  for (const [index, item] of value.entries()) {
    const found = byItem.get(String(index)) ?? []
    yield {
      is: 'resource',
      value: item,
      problems: found.map(problem => ({ ...problem, path: problem.path.replace(itemPath, '') })),
      locate: (path, at) => locate(joinPaths(`[${index}]`, path), at),
    }
  }
}

const itemPath = /^\[(\d+)\]\.?/
