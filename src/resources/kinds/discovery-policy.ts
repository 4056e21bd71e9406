import * as z from 'zod'
import { durationOrProblem } from '../../lib/duration.ts'
import { conditions, observedGeneration, ofReady } from '../conditions.ts'
import { duration, secretName, setOf } from '../fields.ts'
import { type BrokenRule, defineKind } from '../kind.ts'
import { httpUrl, pattern } from '../texts.ts'

const prometheusSchema = z.strictObject({
  endpoint: httpUrl().describe('Address of the server; its path is kept.'),
  query: z.string().min(1).describe('Its result has a label `image`.'),
  queryType: z.enum(['range', 'instant']).optional().describe('Default range with a lookback, else instant.'),
  lookback: duration().optional().describe('How far back a range goes; default 24h.'),
  step: duration().default('5m').describe('Between the samples of a range.'),
  aggregationMethod: z
    .enum(['sum', 'count', 'avg', 'max', 'min', 'last'])
    .default('sum')
    .describe('How the samples of an image become its score.'),
})

const registrySchema = z.strictObject({
  url: httpUrl().describe('Address of the registry.'),
  repositories: setOf(z.string().min(1)).min(1).describe('Whose tags are listed.'),
  tagFilter: pattern().optional().describe('Only tags that this fits.'),
  topX: z.number().int().min(1).optional().describe('Only so many, the newest; default all.'),
  imageTemplate: z
    .string()
    .refine(hasKnownFields, 'knows only {registry}, {repository} and {tag}')
    .default('{registry}/{repository}:{tag}')
    .describe('How an image is written.'),
  tagSeek: z.string().optional().describe('Where the list of tags begins.'),
  maxScan: z.number().int().min(1).default(1000).describe('The most tags that are looked at.'),
  versionPattern: pattern().optional().describe('What in a tag is its version.'),
})

/** In either spelling, `{tag}` or `{{.Tag}}`. */
function hasKnownFields(template: string): boolean {
  const rest = template.replace(/\{\{\s*\.(Registry|Repository|Tag)\s*\}\}|\{(registry|repository|tag)\}/g, '')
  return !/[{}]/.test(rest)
}

const sourceSchema = z.strictObject({
  name: z.string().min(1).optional().describe('For status and metrics; default its type and number.'),
  type: z.enum(['prometheus', 'registry']).describe('Which of the two blocks counts.'),
  prometheus: prometheusSchema.optional().describe('For type prometheus.'),
  registry: registrySchema.optional().describe('For type registry.'),
  secretRef: secretName().optional().describe('Secret with the credentials, by key.'),
})

const spec = z.strictObject({
  sources: z.array(sourceSchema).min(1).describe('Who is asked.'),
  imageFilter: pattern().optional().describe('Only images that this fits.'),
  syncInterval: duration().default('30m').describe('How often; at least 10s.'),
  maxImages: z.number().int().min(1).default(50).describe('The most images, by score.'),
})

type Source = z.input<typeof sourceSchema>

export const discoveryPolicy = defineKind({
  kind: 'DiscoveryPolicy',
  summary: 'finds out which images are used',
  description: [
    'Asks its sources which images there are, keeps those that the filter fits, and ranks them by score. A CachedImageSet takes the list.',
  ],
  displayName: { unique: true, least: 1, most: 253 },
  spec,
  status: z.strictObject({
    observedGeneration: observedGeneration(),
    lastSyncTime: z.iso.datetime().optional().describe('When a source last answered.'),
    discoveredImages: z
      .array(
        z.strictObject({
          image: z.string().describe('Its full name.'),
          score: z.number().int().describe('Higher is wanted more.'),
          source: z.string().describe('Which source knew it.'),
        }),
      )
      .optional()
      .describe('By score.'),
    imageCount: z.number().int().optional().describe('Images found.'),
    sourceCount: z.number().int().optional().describe('Sources asked.'),
    sources: z
      .array(
        z.strictObject({
          name: z.string().describe('Of the source.'),
          healthy: z.boolean().describe('Whether it answered.'),
          reason: z.string().optional().describe('One word for programs.'),
          message: z.string().optional().describe('One sentence for people.'),
          lastSuccessTime: z.iso.datetime().optional().describe('When it last answered.'),
          images: z.number().int().optional().describe('Images that it knew.'),
        }),
      )
      .optional()
      .describe('Each source on its own.'),
    conditions: conditions(),
  }),
  rules: found => {
    const { sources, syncInterval = '30m' } = found as z.input<typeof spec>
    return [...sources.flatMap(sourceRules), ...repeatedNames(sources), ...intervalRules(syncInterval)]
  },
  columns: [
    { title: 'STATUS', value: ({ status }) => ofReady(status, 'reason') },
    { title: 'SOURCES', value: ({ spec }) => String(Array.isArray(spec.sources) ? spec.sources.length : 0) },
    { title: 'IMAGES', value: ({ status }) => String(status?.imageCount ?? '') },
    { title: 'LAST SYNC', value: ({ status }) => String(status?.lastSyncTime ?? '') },
    { title: 'MESSAGE', value: ({ status }) => ofReady(status, 'message'), wide: true },
  ],
  example: `apiVersion: cairn.dev/v1
kind: DiscoveryPolicy
metadata:
  name: busiest
spec:
  sources:
    - type: prometheus
      prometheus:
        endpoint: https://prometheus.example
        query: count by (image) (container_last_seen)
        lookback: 7d
    - type: registry
      registry:
        url: https://registry.example
        repositories: [team/web]
        tagFilter: ^v\\d+
        topX: 3
      secretRef: { name: registry-login }
  maxImages: 20
`,
})

function sourceRules({ type, ...blocks }: Source, index: number): BrokenRule[] {
  const path = ['sources', index]
  const other = type === 'prometheus' ? 'registry' : 'prometheus'
  const broken: BrokenRule[] = []
  if (!blocks[type])
    broken.push({ path: [...path, type], code: 'value.missing', reason: `${type} is missing; the type says so` })
  if (blocks[other])
    broken.push({ path: [...path, other], code: 'value.conflict', reason: `is not for a source of type ${type}` })
  if (blocks.prometheus?.step !== undefined && durationOrProblem(blocks.prometheus.step, '') === 0)
    broken.push({ path: [...path, 'prometheus', 'step'], code: 'value.range', reason: 'must be longer than 0s' })
  return broken
}

function repeatedNames(sources: readonly Source[]): BrokenRule[] {
  const names = sources.map(({ name, type }, index) => name ?? `${type}-${index}`)
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ path: ['sources', index, 'name'], code: 'value.conflict', reason: `another source is called "${name}"` }],
  )
}

const intervalRules = (syncInterval: string): BrokenRule[] =>
  Number(durationOrProblem(syncInterval, '')) < 10_000
    ? [{ path: ['syncInterval'], code: 'value.range', reason: 'must be at least 10s' }]
    : []
