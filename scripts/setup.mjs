// Brings node_modules to what the lock file says, once: runs before every npm script of this project.
// Plain JavaScript without dependencies, for whatever Node (20 or newer) the machine has.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('..', import.meta.url))
const marker = `${project}/node_modules/.cairn-setup`
const wanted = createHash('sha256')
  .update(readFileSync(`${project}/package-lock.json`))
  .digest('hex')

if (installed() !== wanted) {
  console.error('  installing dependencies (first run, or the lock file changed) …')
  // Not `npm ci`: it insists on entries for the optional binaries of every other platform, which not every mirror has.
  const npm = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: project,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (npm.status !== 0) {
    console.error('npm install failed. Look at the lines above; behind a proxy, set it with npm config set proxy.')
    process.exit(npm.status ?? 1)
  }
  writeFileSync(marker, wanted)
}

function installed() {
  try {
    return readFileSync(marker, 'utf8')
  } catch {
    return null
  }
}
