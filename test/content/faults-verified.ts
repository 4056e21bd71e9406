// Watches verified/ while a test runs: whatever gets a name there has the bytes of that name, from the first moment on.
import { createHash } from 'node:crypto'
import { existsSync, type FSWatcher, lstatSync, readdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'

export interface VerifiedWatch {
  /** Looked at so far, each state of a file once. */
  readonly seen: number
  /** Looks a last time at everything; every file that was ever there with other bytes than its name says. */
  end(): string[]
}

/** The kernel tells of each new name; the look every few milliseconds is for what it may have missed. */
const everyMs = 20

export function watchVerified(directory: string): VerifiedWatch {
  const looked = new Map<string, string>()
  const wrong: string[] = []
  let watcher: FSWatcher | null = null
  let seen = 0

  const lookAt = (name: string, isLast = false) => {
    try {
      const { size, mtimeMs, ino, mode } = lstatSync(join(directory, name))
      const state = `${size} ${mtimeMs} ${ino} ${mode}`
      if (!isLast && looked.get(name) === state) return
      looked.set(name, state)
      seen++
      const sha256 = createHash('sha256')
        .update(readFileSync(join(directory, name)))
        .digest('hex')
      if (!name.startsWith(`${sha256}.`)) wrong.push(`${name} has ${size} bytes of sha256 ${sha256}`)
      if ((mode & 0o7777) !== 0o400) wrong.push(`${name} has the mode ${(mode & 0o7777).toString(8)}`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  const look = (isLast = false) => {
    if (!existsSync(directory)) return
    watcher ??= watch(directory, (_, name) => name && lookAt(name))
    for (const name of readdirSync(directory)) lookAt(name, isLast)
  }
  const timer = setInterval(look, everyMs)
  look()
  return {
    get seen() {
      return seen
    },
    end() {
      clearInterval(timer)
      look(true)
      watcher?.close()
      return wrong
    },
  }
}
