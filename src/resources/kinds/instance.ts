import * as z from 'zod'
import { mapOrNames, settings } from '../fields.ts'
import { fragmentSchema } from '../fragment.ts'
import { defineKind, type NamedReference, type Spec } from '../kind.ts'
import { plainName } from '../names.ts'

const layer = z
  .record(z.string().min(1), settings())
  .default({})
  .describe('Values for the interface of the role; `$` operators say how they meet other layers.')

const optional = z.boolean().default(false).describe('Unknown is no mistake.')

const roleSchema = z.strictObject({
  settings: layer,
  tags: mapOrNames(
    plainName(),
    z.strictObject({
      settings: layer,
      member: z.boolean().default(true).describe('False: settings for members with this tag, without making members.'),
      optional,
    }),
  )
    .default({})
    .describe('Machines with one of these tags have the role. A plain list of tags means no settings.'),
  machines: mapOrNames(plainName(), z.strictObject({ settings: layer, optional }))
    .default({})
    .describe('These machines have the role, by display name. A plain list of names means no settings.'),
  extra: fragmentSchema.default({}).describe('Added on every member of the role.'),
})

/** `nightly/ssh` and `borgbackup:ssh` are instances that a service asked for; people may add settings to them. */
const instanceNamePattern =
  /^(?!constructor$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?([/:][a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

export const instance = defineKind({
  kind: 'Instance',
  summary: 'one use of a service',
  description: [
    'Says which machines play which role of a service, and with which settings. Settings of a role, of a tag and of a machine are layers; the more specific one goes over the other.',
    'In settings, `{secretRef: {key: …}}` stands for a secret and `{variableRef: {name: …}}` for the value of a Variable.',
  ],
  displayName: { unique: true, least: 1, most: 255, pattern: instanceNamePattern },
  spec: z.strictObject({
    description: z.string().optional().describe('For people.'),
    module: z
      .strictObject({
        input: plainName().default('builtin').describe('Where modules come from: the name of a configured directory.'),
        name: plainName().optional().describe('Of the service; default the name of the instance.'),
      })
      .default({ input: 'builtin' })
      .describe('The service.'),
    roles: z.record(plainName(), roleSchema).default({}).describe('Role to who plays it, and how.'),
  }),
  namedReferences: spec => Object.entries(spec.roles ?? {}).flatMap(([role, of]) => machinesOf(role, of as Spec)),
  columns: [
    { title: 'MODULE', value: ({ spec }) => moduleOf(spec.module as Spec | undefined) },
    { title: 'ROLES', value: ({ spec }) => Object.keys(spec.roles ?? {}).join(', ') },
  ],
  example: `apiVersion: cairn.dev/v1
kind: Instance
metadata:
  name: nightly
spec:
  module:
    name: borgbackup
  roles:
    server:
      machines: [borea]
    client:
      settings:
        exclude: ["*.pyc"]
      tags:
        home:
          settings:
            startAt: "02:00"
      machines:
        atlas:
          settings:
            exclude:
              $remove: ["*.pyc"]
`,
})

/** In either form of the field. */
function machinesOf(role: string, { machines }: Spec): NamedReference[] {
  const path = ['roles', role, 'machines']
  if (Array.isArray(machines))
    return machines.map((name, index) => ({
      path: [...path, index],
      kind: 'Machine',
      name: String(name),
      optional: false,
    }))
  return Object.entries(machines ?? {}).map(([name, entry]) => ({
    path: [...path, name],
    kind: 'Machine',
    name,
    optional: (entry as Spec | undefined)?.optional === true,
  }))
}

const moduleOf = (module: Spec | undefined): string => {
  const input = String(module?.input ?? 'builtin')
  const name = String(module?.name ?? '')
  return input === 'builtin' ? name : `${input}/${name}`
}
