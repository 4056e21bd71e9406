// Looks for secrets where they must not be, again and again while a test runs: in argument lists, in the environment of the
// content processes, in files below a root, and in whatever the test hands it.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface SecretsWatch {
  /** Something that was said or written; `where` names it. */
  look(where: string, text: string | Buffer): void
  /** Looks a last time; where each secret was found. */
  end(): string[]
  /** Content processes whose arguments and environment were read. */
  readonly processes: ReadonlySet<number>
}

export interface Watched {
  readonly secrets: Readonly<Record<string, string>>
  /** All files below, but for those that are allowed to have them. */
  readonly roots: readonly string[]
  readonly allowed: readonly string[]
}

const everyMs = 25

export function watchSecrets({ secrets, roots, allowed }: Watched): SecretsWatch {
  const found = new Set<string>()
  const processes = new Set<number>()
  const spellings = Object.entries(secrets).flatMap(([name, secret]) =>
    [secret, ...encoded(secret)].map(spelling => ({ name, spelling })),
  )

  const look = (where: string, text: string | Buffer) => {
    for (const { name, spelling } of spellings) if (text.includes(spelling)) found.add(`${name} in ${where}`)
  }
  const lookAtProcesses = () => {
    for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
      const words = read(`/proc/${pid}/cmdline`).toString().split('\0')
      const isOurs = words.includes('--content-process')
      // Who types an address has it in the arguments of that one command; it goes no further.
      if (isOurs || !words.some(word => word === 'pull' || word === 'create'))
        look(`the arguments of ${words.slice(-3).join(' ')}`, words.join(' '))
      if (!isOurs) continue
      processes.add(Number(pid))
      look(`the environment of the ${words.at(-2)}`, read(`/proc/${pid}/environ`))
    }
  }
  const lookAtFiles = () => {
    for (const root of roots)
      for (const path of filesBelow(root))
        if (!allowed.includes(path)) look(`the file ${relative(root, path)}`, read(path))
  }
  const timer = setInterval(() => {
    lookAtProcesses()
    lookAtFiles()
  }, everyMs)
  return {
    look,
    processes,
    end() {
      clearInterval(timer)
      lookAtFiles()
      return [...found].sort()
    },
  }
}

/** As headers and addresses have it. Of base64, the part that does not depend on what stands before or after. */
function encoded(secret: string): string[] {
  const inBase64 = [0, 1, 2].map(shift => {
    const text = Buffer.from(`${'x'.repeat(shift)}${secret}`).toString('base64')
    return text.slice(4, -4)
  })
  return [encodeURIComponent(secret), Buffer.from(secret).toString('hex'), ...inBase64]
}

function filesBelow(root: string): string[] {
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
  } catch {
    return [] // something went while it was listed; the next look has the rest
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
