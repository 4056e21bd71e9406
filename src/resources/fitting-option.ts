// Which option of a choice a value belongs to. Mostly its type alone says it; only where it does not is the value checked.
import * as z from 'zod'

export function fittingOption<Option extends z.core.$ZodType>(
  options: readonly Option[],
  value: unknown,
): Option | undefined {
  const ofItsType = options.filter(option => hasTypeOf(option, value))
  return ofItsType.length > 1 ? ofItsType.find(option => z.safeParse(option, value).success) : ofItsType[0]
}

function hasTypeOf(option: z.core.$ZodType, value: unknown): boolean {
  const isList = Array.isArray(value)
  if (option instanceof z.ZodArray) return isList
  if (option instanceof z.ZodObject || option instanceof z.ZodRecord)
    return typeof value === 'object' && value !== null && !isList
  return true
}
