// Values that must not be told, and where they were found all the same: in whatever a test hands over, in files, and in the
// argument lists of all processes while it runs.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface Canaries {
  /** Something that was said or written; `where` names it. */
  look(where: string, text: string | Uint8Array): void
  /** Every file below, but for those that are theirs to be in. */
  lookInFiles(directory: string, allowed?: readonly string[]): void
  /** Where each was found so far, sorted. */
  found(): string[]
  /** The first two words of each cairn whose arguments were read. */
  readonly commands: ReadonlySet<string>
  end(): void
}

const everyMs = 10

export const canary = (): string => `canary-${randomBytes(15).toString('hex')}`

/** Those in `typed` may stand in argument lists: whoever types a value there has put it there. */
export function watchCanaries({
  secrets,
  typed = {},
}: {
  readonly secrets: Readonly<Record<string, string>>
  readonly typed?: Readonly<Record<string, string>>
}): Canaries {
  const found = new Set<string>()
  const commands = new Set<string>()
  const hidden = spellingsOf(secrets)
  const all = [...hidden, ...spellingsOf(typed)]
  const lookFor = (spellings: typeof all, where: string, text: string | Uint8Array) => {
    const bytes = Buffer.from(text)
    for (const { name, spelling } of spellings) if (bytes.includes(spelling)) found.add(`${name} in ${where}`)
  }
  const look: Canaries['look'] = (where, text) => lookFor(all, where, text)
  const lookAtProcesses = () => {
    for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
      const words = read(`/proc/${pid}/cmdline`)
      lookFor(hidden, `the arguments of process ${pid}`, words)
      const [, command] = /\/dist\/cairn\.js\0([^\0]*\0[^\0]*)/.exec(words.toString()) ?? []
      if (command) commands.add(command.replace('\0', ' '))
    }
  }
  const timer = setInterval(lookAtProcesses, everyMs)
  return {
    look,
    lookInFiles(directory, allowed = []) {
      for (const name of readdirSync(directory, { recursive: true }) as string[]) {
        const path = join(directory, name)
        if (!allowed.includes(path) && statSync(path).isFile()) look(relative(directory, path), read(path))
      }
    },
    found: () => [...found].sort(),
    commands,
    end: () => clearInterval(timer),
  }
}

/** In clear, in hex of both cases, in a URL, and of base64 the part that does not depend on what stands around it. */
function spellingsOf(secrets: Readonly<Record<string, string>>) {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const hex = Buffer.from(secret).toString('hex')
    const inBase64 = [0, 1, 2].flatMap(shift => {
      const middle = Buffer.from(`${'x'.repeat(shift)}${secret}`)
        .toString('base64')
        .slice(4, -4)
      return [middle, middle.replaceAll('+', '-').replaceAll('/', '_')]
    })
    const spellings = new Set([secret, encodeURIComponent(secret), hex, hex.toUpperCase(), ...inBase64])
    return [...spellings].map(spelling => ({ name, spelling }))
  })
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}
