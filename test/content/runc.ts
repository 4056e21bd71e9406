// A container with the real runc.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { output } from '../volumes/tools.ts'

/** What the program of a container volume prints when it is run as its image says, in a container of its own. */
export async function runVolume(volume: string): Promise<string> {
  const bundle = `${volume}.bundle`
  const { config } = JSON.parse(readFileSync(join(volume, 'image-config.json'), 'utf8'))
  mkdirSync(bundle)
  try {
    await output('runc', 'spec', '--bundle', bundle)
    const file = join(bundle, 'config.json')
    const spec = JSON.parse(readFileSync(file, 'utf8'))
    spec.process = { ...spec.process, args: config.Cmd, terminal: false }
    spec.root = { path: join(volume, 'rootfs'), readonly: false }
    writeFileSync(file, JSON.stringify(spec))
    const name = `cairn-test-${process.pid}`
    return await output('runc', '--root', join(bundle, 'runc'), 'run', '--bundle', bundle, name)
  } finally {
    rmSync(bundle, { recursive: true })
  }
}
