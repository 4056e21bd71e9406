// Where bytes can be had. A source is a place; what is asked of it (a digest, a tag) stands beside it.
import * as z from 'zod'

export const sourceSchema = z.discriminatedUnion('kind', [
  /** An OCI registry: `host` with its port, `repository` without tag or digest. */
  z.strictObject({
    kind: z.literal('registry'),
    host: z.string().min(1).max(300),
    repository: z.string().min(1).max(300),
  }),
  /** One file at one address; http or https. */
  z.strictObject({ kind: z.literal('url'), url: z.string().min(1).max(8000) }),
  /** One file of this machine. */
  z.strictObject({ kind: z.literal('file'), path: z.string().min(1).max(4096) }),
  /** A directory in the OCI image layout, as on a stick. */
  z.strictObject({ kind: z.literal('oci-layout'), path: z.string().min(1).max(4096) }),
])

export type Source = z.infer<typeof sourceSchema>
