// Texts in, what was understood of them out, with short forms of what a test asks about.
import type { Json } from '../../lib/json.ts'
import type { Problem } from '../../lib/problem.ts'
import { defaultLimits, type Limits } from '../model/source.ts'
import { readDocuments } from '../read/documents.ts'
import type { BundleOptions } from '../request.ts'
import { testKinds } from './kinds.fake.ts'
import { type Understood, understand } from './understand.ts'

export interface Asked {
  readonly env?: Readonly<Record<string, Json>>
  readonly options?: BundleOptions
  readonly limits?: Partial<Limits>
  readonly defaultApiVersion?: string
}

/** One text is the file `b.yaml`. */
export function understandText(
  files: string | Readonly<Record<string, string>>,
  { env = {}, options = {}, limits = {}, defaultApiVersion }: Asked = {},
): Understood {
  const all = { ...defaultLimits, ...limits }
  const sources = Object.entries(typeof files === 'string' ? { 'b.yaml': files } : files)
  return understand(
    readDocuments(
      sources.map(([name, content]) => ({ name, content })),
      all,
    ),
    {
      kinds: testKinds,
      env,
      options,
      limits: all,
      sources: sources.map(([name]) => name),
      ...(defaultApiVersion !== undefined && { defaultApiVersion }),
    },
  )
}

/** `code path line:column`, and the file where it is not `b.yaml`. */
export const told = (problems: readonly Problem[]): string[] =>
  problems.map(({ code, path, source }) => {
    const file = source && source.file !== 'b.yaml' ? `${source.file}:` : ''
    return [code, path, ...(source ? [`${file}${source.line}:${source.column}`] : [])].filter(Boolean).join(' ')
  })

export const mark = (name: string) => `kind: Mark\nmetadata: { name: ${name} }\n`

/** `more` are further lines of spec. */
export const store = (name: string, more = '') => `kind: Store\nmetadata: { name: ${name} }\nspec:\n  url: u\n${more}`

export const disk = (name: string, more = '') => `kind: Disk\nmetadata: { name: ${name} }\nspec:\n  size: 1GiB\n${more}`

export const documents = (...texts: string[]) => texts.join('---\n')
