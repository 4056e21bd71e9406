// Keeps of a faulty config what is right.
import type { z } from 'zod'
import { checkSchema } from '../../resources/check.ts'
import { type OverlayConfig, overlayConfigSchema, packageSchema, unitSchema } from '../../resources/overlay-config.ts'

/** The entries that are right by themselves, so that the rules that span fields can look at them as well. */
export function understood(value: unknown): OverlayConfig {
  const root = isRecord(value) ? value : {}
  const whole = overlayConfigSchema.safeParse(root)
  if (whole.success) return whole.data
  return {
    version: typeof root.version === 'string' ? root.version : 'unreadable',
    packageByNames: entriesThatFit(packageSchema, root.packageByNames),
    systemdUnitsByName: entriesThatFit(unitSchema, root.systemdUnitsByName),
    checks: Array.isArray(root.checks) ? root.checks.flatMap(check => checkSchema.safeParse(check).data ?? []) : [],
  }
}

function entriesThatFit<T extends z.ZodType>(schema: T, value: unknown): Record<string, z.infer<T>> {
  if (!isRecord(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, entry]) => {
      const parsed = schema.safeParse(entry)
      return parsed.success ? [[name, parsed.data]] : []
    }),
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
