// A machine fragment: a part of what a machine is to be, as services make it and as people add to it. Its attributes are known
// here; what they hold may contain operators such as $forced, and is judged where fragments are merged.
import * as z from 'zod'
import { settings } from './fields.ts'

const named = (about: string) => z.record(z.string().min(1), settings()).optional().describe(about)

export const fragmentSchema = z.strictObject({
  packages: named('Name to version, source and etc files.'),
  units: named('Name such as web.service to its sections.'),
  etc: named('Path below /etc to text, or to a file of a package.'),
  volumes: named('Name to volume.'),
  images: named('Image to how it is cached.'),
  users: named('System users.'),
  groups: named('System groups.'),
  dirs: named('Path to owner and mode.'),
  ports: settings().optional().describe('Ports that are claimed.'),
  checks: named('What must hold after an activation.'),
  services: named('Nested services.'),
  warnings: z.array(z.string()).optional().describe('Shown with every plan.'),
})
