// OverlayConfig: what one machine's store and /etc are to hold. The wire format, as people write it in JSON;
// rules that need more than one field (duplicate targets, cycles, templates) are checked in overlay/config/.
import * as z from 'zod'
import { checkSchema } from './check.ts'

const sourceTypes = ['url', 'url+tar', 'url+zip', 'url+deb', 'url+rpm', 'oci', 'file', 'inline'] as const

const sourceSchema = z
  .strictObject({
    type: z.enum(sourceTypes).describe('How the bytes are had and unpacked.'),
    uri: z
      .string()
      .optional()
      .describe(
        'https://…, http://… or file://… for url kinds; registry.example/name:tag for "oci"; a path for "file".',
      ),
    content: z.string().optional().describe('The text itself, for "inline".'),
    checksum: z.string().optional().describe('"sha256:<hex>" or an SRI string such as "sha256-<base64>".'),
    path: z.string().optional().describe('Where a single file lands in the package; default bin/<package name>.'),
    mode: z.string().optional().describe('Octal mode of a single file; default 0555.'),
    stripComponents: z.number().int().min(0).optional().describe('Leading path parts of an archive to drop.'),
    allowAbsoluteLinks: z.boolean().optional().describe('Keep absolute symbolic links of an archive as they are.'),
  })
  .describe('Where a package comes from.')

const etcFileSchema = z.strictObject({
  source: z.string().describe('Path inside the package.'),
  target: z.string().describe('Path below /etc.'),
  kind: z.enum(['link', 'copy']).optional().describe('Default link; copy when mode, owner or group is given.'),
  mode: z.string().optional(),
  owner: z.string().optional().describe('User name, or +uid.'),
  group: z.string().optional().describe('Group name, or +gid.'),
  replaceExisting: z.boolean().optional().describe('Back up what is there, and give it back when this entry goes.'),
  allowProtected: z.boolean().optional().describe('Needed for paths such as passwd, sudoers or fstab.'),
})

export const packageSchema = z.strictObject({
  version: z.string(),
  source: sourceSchema,
  packages: z
    .array(z.string())
    .optional()
    .describe('Packages that links of this one may lead into; they stay as long as it does.'),
  etcFiles: z.array(etcFileSchema).optional(),
})

export const unitSchema = z.strictObject({
  version: z.string(),
  packages: z.array(z.string()).optional().describe('The packages that the template may name.'),
  templateInline: z.string(),
  enable: z.boolean().optional().describe('Make the links of [Install]; default true.'),
  start: z.boolean().optional().describe('Start when new, even if no active target wants it.'),
  masked: z.boolean().optional(),
  dropIns: z.record(z.string(), z.string()).optional().describe('File name ending in .conf to template text.'),
  restartOn: z.array(z.string()).optional().describe('Etc targets whose change restarts the unit.'),
  reloadOn: z.array(z.string()).optional().describe('Etc targets whose change reloads the unit.'),
  triggers: z.literal('none').optional().describe('Do not infer triggers from the etc targets that the unit names.'),
})

export const overlayConfigSchema = z.strictObject({
  version: z.string().describe('Names the snapshot configs/<version>.json.'),
  packageByNames: z.record(z.string(), packageSchema).optional(),
  systemdUnitsByName: z.record(z.string(), unitSchema).optional(),
  checks: z.array(checkSchema).optional().describe('What must hold after an apply; one that fails takes it back.'),
})

export type OverlayConfig = z.infer<typeof overlayConfigSchema>
export type PackageSource = z.infer<typeof sourceSchema>
export type EtcFileConfig = z.infer<typeof etcFileSchema>
export type PackageConfig = z.infer<typeof packageSchema>
export type UnitConfig = z.infer<typeof unitSchema>
