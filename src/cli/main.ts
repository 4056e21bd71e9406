// The entry. The version is answered before anything is imported; everything else begins in run.ts.
import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Set by the bundler (scripts/build.ts); not there when run from the sources. */
declare const CAIRN_VERSION: string | undefined
const bundledVersion = typeof CAIRN_VERSION === 'string' ? CAIRN_VERSION : null

const argv = process.argv.slice(2)
if (argv[0] === '--version' || argv[0] === '-V') {
  const version = bundledVersion ?? versionOfSources()
  console.log(argv.includes('--json') ? JSON.stringify({ version }) : version)
} else if (argv[0] === '--content-process') {
  // How the supervisor starts Cairn again, walled in.
  const { runContentProcess } = await import('../volumes/process.ts')
  await runContentProcess(argv[1] ?? '')
} else if (argv[0] === '--jsonnet-process') {
  // How Cairn evaluates Jsonnet: once more, with limits.
  const { runJsonnetProcess } = await import('../bundles/read/jsonnet-process.ts')
  await runJsonnetProcess()
} else {
  // bin/cairn sets it so that this file is cached too; what Cairn starts has no use for it.
  delete process.env.NODE_COMPILE_CACHE
  // Beside the code, so that nobody who may not change the code can change what is run instead of it.
  enableCompileCache(
    fileURLToPath(new URL(bundledVersion ? '.cache' : '../../node_modules/.cache/cairn', import.meta.url)),
  )
  const [{ catalogue }, { runCairn }, { processTerminal }] = await Promise.all([
    import('./commands/all.ts'),
    import('./run.ts'),
    import('../lib/terminal.ts'),
  ])
  process.exitCode = await runCairn(argv, processTerminal(), catalogue)
}

function versionOfSources(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
