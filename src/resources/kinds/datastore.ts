import * as z from 'zod'
import { secret } from '../fields.ts'
import { defineKind, type Spec } from '../kind.ts'
import { host, pem } from '../texts.ts'

export const datastore = defineKind({
  kind: 'Datastore',
  summary: 'a registry or server that has content',
  description: ['Where content is fetched, with the credentials for it and the mirrors that have the same.'],
  displayName: { unique: true, least: 1, most: 255 },
  spec: z.strictObject({
    description: z.string().optional().describe('For people.'),
    host: host().optional().describe('With its port: registry.example:5000; default the display name.'),
    username: z.string().min(1).max(300).optional().describe('For the host and its mirrors.'),
    password: secret().optional().describe('Given at apply.'),
    mirrors: z.array(host()).default([]).describe('Hosts with the same content, tried first, in order.'),
    plainHttp: z.boolean().default(false).describe('Speak http to it. Without this only loopback is spoken to so.'),
    ca: pem('CERTIFICATE').optional().describe('Certificate authority of its own, in PEM.'),
  }),
  rules: ({ username, password }: Spec) =>
    password !== undefined && username === undefined
      ? [{ path: ['username'], code: 'value.missing', reason: 'username is missing; a password needs one' }]
      : [],
  columns: [
    { title: 'HOST', value: ({ spec }) => String(spec.host ?? '') },
    { title: 'USERNAME', value: ({ spec }) => String(spec.username ?? '') },
    { title: 'MIRRORS', value: ({ spec }) => (Array.isArray(spec.mirrors) ? spec.mirrors.join(', ') : ''), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: Datastore
metadata:
  name: harbor
spec:
  host: harbor.example:5000
  username: fleet
  password:
    secretRef:
      key: harbor-password
  mirrors: [mirror.example]
`,
})
