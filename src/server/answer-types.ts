import type { Route } from './contract/route.ts'

/** JSON first; a route whose answer is text has no JSON. */
export function answerTypesOf({ answer, answerTypes = [] }: Route): readonly string[] {
  return answer.type === 'string' ? answerTypes : ['application/json', ...answerTypes]
}
