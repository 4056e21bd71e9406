// Checks: what has to hold on a machine after an apply. "Active" is not "healthy".
import * as z from 'zod'

const common = {
  name: z.string(),
  within: z.string().optional().describe('How long it may take to hold; default 30s.'),
}

export const checkSchema = z.union([
  z.strictObject({ ...common, http: z.string().describe('URL that must answer 2xx.') }),
  z.strictObject({ ...common, tcp: z.string().describe('host:port that must accept a connection.') }),
  z.strictObject({ ...common, command: z.array(z.string()).min(1).describe('Program and arguments; must exit 0.') }),
  z.strictObject({ ...common, file: z.string().describe('Path that must exist.') }),
  z.strictObject({
    ...common,
    unit: z.string().describe('Unit that must be active …'),
    for: z.string().optional().describe('… for this long without a break; default 0s.'),
  }),
])

export type Check = z.infer<typeof checkSchema>
