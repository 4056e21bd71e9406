// ContentSettings: what the owner of one machine says about fetching and keeping content, in etc/cairn/content.json.
// Passwords stand here or in files of their own; nothing that Cairn prints, keeps or sends on shows them.
import * as z from 'zod'

const datastore = z.strictObject({
  host: z.string().min(1).describe('A registry or server, with its port: registry.example:5000.'),
  username: z.string().optional(),
  password: z.string().optional().describe('Better in a file of its own: passwordFile.'),
  passwordFile: z.string().optional().describe('A file whose first line is the password.'),
  mirrors: z.array(z.string()).optional().describe('Hosts with the same content, tried first, in order.'),
  plainHttp: z.boolean().optional().describe('Speak http to it. Without this only loopback is spoken to so.'),
  caFile: z.string().optional().describe('Certificate authority of its own, in PEM.'),
})

const span = z.union([z.string(), z.number().int()]).describe('A duration such as 90s or 7d, or seconds.')

export const contentSettingsSchema = z.strictObject({
  datastores: z.array(datastore).optional(),
  'content.gc.volume': span.optional().describe('How long a volume that nobody claims is kept; default 1h.'),
  'timer.gc.vdisk': span.optional().describe('Another name for content.gc.volume.'),
  'content.deleteDelay': span.optional().describe('How long content outlives its last use; default 0s.'),
  'content.attempts': z.number().int().optional().describe('Downloads of one blob before it is left alone; default 5.'),
  'content.reserve': z.boolean().optional().describe('Keep min(20 %, 2 GiB) of the disk free; default true.'),
  'content.maintenance': z.boolean().optional().describe('Collect nothing.'),
  'content.rehash': z.enum(['full', 'changed', 'off']).optional().describe('At start; default changed.'),
  'content.quarantine.keep': z.number().int().optional().describe('Bad downloads kept for a look; default 0.'),
  'content.atOnce': z.number().int().optional().describe('Downloads at once; default 4.'),
  'content.perHost': z.number().int().optional().describe('Downloads at once from one host; default 3.'),
  'content.bandwidth': z.string().optional().describe('The most a second over all downloads: 10MB.'),
  'content.linkCost': z.number().int().optional().describe('What the link costs, 0 to 255; default 0.'),
  'content.maxCost': z.number().int().optional().describe('Above this cost downloads wait; default 0.'),
  'content.containerd': z
    .string()
    .optional()
    .describe('Socket of the container runtime; default /run/containerd/containerd.sock, below --root none.'),
  'content.stall': span.optional().describe('A connection without a byte for this long is given up; default 60s.'),
  'content.retry': span.optional().describe('The longest pause between tries; default 10m.'),
})

export type ContentSettings = z.infer<typeof contentSettingsSchema>
