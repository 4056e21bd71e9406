// One large file: the downloader alone beside curl, and the verifier alone beside programs that hash and copy.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { contentLayoutOf } from '../../src/content/layout.ts'
import { sha256Hex } from '../../src/lib/json.ts'
import { randomLayer } from '../../test/content/image.ts'
import { putBlob, type RealRegistry } from '../../test/content/registry.ts'
import { removeAll } from '../lib/remove.ts'
import { type Contender, present, type Series } from '../lib/rounds.ts'
import { findTool, type Tool } from '../lib/tool.ts'
import { seriesOf, steps, who } from './names.ts'

export interface BlobOptions {
  readonly registry: RealRegistry
  readonly bytes: number
  readonly rounds: number
  readonly directory: string
}

export async function blobSeries({ registry, bytes, rounds, directory }: BlobOptions): Promise<Series> {
  const at = (name: string) => join(directory, name)
  const layout = contentLayoutOf({ base: at('content'), run: at('run') })
  mkdirSync(layout.pending, { recursive: true })
  const [{ body } = { body: Buffer.alloc(0) }] = randomLayer({ seed: 77, bytes })
  const sha256 = sha256Hex(body)
  writeFileSync(at('blob'), body)
  await putBlob(registry, 'blob', body)
  const url = `http://${registry.host}/v2/blob/blobs/sha256:${sha256}`
  // As the product is: types would have to be stripped at every start.
  await build({
    entryPoints: [import.meta.resolve('./download-once.ts'), import.meta.resolve('./verify-once.ts')].map(url =>
      fileURLToPath(url),
    ),
    outdir: at('scripts'),
    outExtension: { '.js': '.mjs' },
    mainFields: ['module', 'main'],
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  const ours = (name: string, script: string, ...args: string[]): Contender => ({
    name,
    program: process.execPath,
    args: ['--max-semi-space-size=4', at(`scripts/${script}`), ...args, String(bytes), sha256],
  })
  const theirs = (name: string, tool: Tool, ...args: string[]): Contender | undefined =>
    tool.path === null ? undefined : { name, program: tool.path, args }
  return {
    name: seriesOf.blob,
    files: 1,
    rounds,
    warmUp: false,
    begin() {
      removeAll(layout.pending, layout.verified, at('by-curl'), at('copy'))
      mkdirSync(layout.pending)
    },
    steps: [
      {
        name: steps.blob,
        contenders: present(
          ours(who.downloader, 'download-once.mjs', url, join(layout.pending, 'blob')),
          theirs(who.curl, findTool('curl'), '-s', '-f', '-o', at('by-curl'), url),
        ),
      },
      {
        name: steps.verify,
        contenders: present(
          ours(who.verifier, 'verify-once.mjs', at('content'), 'blob'),
          theirs(
            who.opensslAndCp,
            findTool('sh'),
            '-c',
            `openssl dgst -sha256 ${at('blob')} && cp ${at('blob')} ${at('copy')}`,
          ),
          theirs(who.sha256sum, findTool('sha256sum'), at('blob')),
        ),
      },
    ],
  }
}
