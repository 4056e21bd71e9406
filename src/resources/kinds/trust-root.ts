import * as z from 'zod'
import { defineKind } from '../kind.ts'
import { pem } from '../texts.ts'

const spec = z.strictObject({
  description: z.string().optional().describe('For people.'),
  keys: z.array(pem('PUBLIC KEY')).max(32).default([]).describe('Public keys in PEM.'),
  certificates: z.array(pem('CERTIFICATE')).max(32).default([]).describe('Root certificates in PEM.'),
})

export const trustRoot = defineKind({
  kind: 'TrustRoot',
  summary: 'who may have signed content',
  description: ['A signature is good when one of the keys made it, or a certificate that leads to one of the roots.'],
  displayName: { unique: true, least: 1, most: 255 },
  spec,
  rules: found => {
    const { keys = [], certificates = [] } = found as z.input<typeof spec>
    if (keys.length + certificates.length > 0) return []
    return [{ path: ['keys'], code: 'value.missing', reason: 'needs keys or certificates' }]
  },
  columns: [
    { title: 'KEYS', value: ({ spec }) => countOf(spec.keys) },
    { title: 'CERTIFICATES', value: ({ spec }) => countOf(spec.certificates) },
  ],
  example: `apiVersion: cairn.dev/v1
kind: TrustRoot
metadata:
  name: release-key
spec:
  keys:
    - |
      -----BEGIN PUBLIC KEY-----
      MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
      -----END PUBLIC KEY-----
`,
})

const countOf = (value: unknown): string => String(Array.isArray(value) ? value.length : 0)
