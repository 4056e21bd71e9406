// Makes dist/ (or the directory named as argument): the one bundle that ships. Dynamic imports stay chunks of their own, so that a command loads only what it needs.
import { readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const outdir = process.argv[2] ?? 'dist'

rmSync(outdir, { recursive: true, force: true })
await build({
  entryPoints: { cairn: 'src/cli/main.ts' },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node26',
  mainFields: ['module', 'main'],
  // Names stay, for stack traces that can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  define: { CAIRN_VERSION: JSON.stringify(version) },
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
})
