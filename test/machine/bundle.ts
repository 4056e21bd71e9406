// The bundle that ships, built once per test process and laid out as an installed package, for a machine to see at /opt/cairn.
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runOrThrow } from './process.ts'

export interface Bind {
  readonly from: string
  readonly to: string
}

/** Kept in memory, so that nothing of it stays behind when the test process is ended. */
type Bundle = readonly { readonly name: string; readonly bytes: Uint8Array }[]

const project = dirname(dirname(import.meta.dirname))
let built: Promise<Bundle> | undefined

export function buildOnce(): Promise<Bundle> {
  built ??= build()
  return built
}

/** Returns what to bind, so that the machine has /opt/cairn/bin/cairn and with it its own Node. */
export function install(bundle: Bundle, directory: string): Bind[] {
  const node = `node_modules/node-linux-${process.arch}`
  for (const made of ['dist', node]) mkdirSync(join(directory, made), { recursive: true })
  for (const { name, bytes } of bundle) writeFileSync(join(directory, 'dist', name), bytes)
  cpSync(join(project, 'bin'), join(directory, 'bin'), { recursive: true })
  copyFileSync(join(project, 'package.json'), join(directory, 'package.json'))
  return [
    { from: directory, to: '/opt/cairn' },
    { from: join(project, node), to: `/opt/cairn/${node}` },
  ]
}

async function build(): Promise<Bundle> {
  const dist = mkdtempSync(join(tmpdir(), 'cairn-bundle-'))
  try {
    await runOrThrow([process.execPath, join(project, 'scripts/build.ts'), dist], { cwd: project })
    return readdirSync(dist).map(name => ({ name, bytes: readFileSync(join(dist, name)) }))
  } finally {
    rmSync(dist, { recursive: true, force: true })
  }
}
