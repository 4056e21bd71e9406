// The generated scripts, run by the shells they are for.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '../../lib/lacks.fake.ts'
import { catalogue } from '../commands/all.ts'
import { completionScript } from './script.ts'

type Shell = Parameters<typeof completionScript>[0]

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cairn-completion-'))
  writeFileSync(join(directory, 'overlay one.json'), '')
  for (const shell of ['bash', 'zsh', 'fish'] as const)
    writeFileSync(join(directory, shell), completionScript(shell, catalogue))
})
afterAll(() => rmSync(directory, { recursive: true }))

const run = (program: string, args: string[]) =>
  execFileSync(program, args, { cwd: directory, encoding: 'utf8', env: { ...process.env, HOME: directory } })
    .split('\n')
    .filter(Boolean)

/** Calls the function as readline does: the words so far, the last one being completed. */
function inBash(line: string): string[] {
  const words = line.split(' ')
  const script = `source ./bash; COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    _cairn; printf '%s\\n' "\${COMPREPLY[@]}"`
  return run('bash', ['--noprofile', '--norc', '-c', script])
}

/** The completion system needs a terminal, so the functions that end in it print what they were given. */
function inZsh(line: string): string[] {
  const words = line.split(' ')
  const script = `compdef() { : }
    _describe() { print -l -- \${\${(P)@[-1]}%%:*} }
    _files() { print -- files $@ }
    _message() { : }
    source ./zsh; words=(${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length}; _cairn`
  return run('zsh', ['-f', '-c', script])
}

const inFish = (line: string): string[] =>
  run('fish', ['--no-config', '-c', `source ./fish; complete -C '${line}'`]).map(found => found.split('\t')[0] ?? '')

const shells: Record<Shell, (line: string) => string[]> = { bash: inBash, zsh: inZsh, fish: inFish }

/** bash is on every machine that Cairn is tested on; the other two are tried where they are, and in CI. */
function missing(shell: string): boolean {
  if (!lacks(shell)) return false
  process.stderr.write(`skipped: completion in ${shell}: it is not installed\n`)
  return true
}

describe.each(Object.entries(shells))('%s', (name, complete) => {
  it.skipIf(missing(name))('completes commands, also behind options with values', () => {
    expect(complete('cairn no')).toContain('node')
    expect(complete('cairn node ro')).toContain('rollback')
    expect(complete('cairn --json node --root /tmp ro')).toContain('rollback')
    expect(complete('cairn node ')).toEqual(expect.arrayContaining(['apply', 'gc', 'plan', 'why']))
    expect(complete('cairn node ')).not.toContain('node')
  })

  it.skipIf(missing(name))('completes the options of the command it stands at', () => {
    const found = complete('cairn node gc --')
    expect(found).toEqual(expect.arrayContaining(['--keep', '--older-than', '--dry-run', '--root', '--json', '--help']))
    expect(found).not.toContain('--confirm-within')
  })

  it.skipIf(missing(name))('completes choices', () => {
    expect(complete('cairn completion ')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
  })

  it.skipIf(missing(name))('completes file names where a file is wanted', () => {
    const found = complete('cairn node apply -f ')
    expect(name === 'zsh' ? found : found.map(file => file.replaceAll('\\', ''))).toContain(
      name === 'zsh' ? 'files' : 'overlay one.json',
    )
  })

  it.skipIf(missing(name))('offers nothing where a value is free', () => {
    expect(complete('cairn node gc --keep ')).toEqual([])
  })
})

describe('bash', () => {
  it('filters by what is typed, and completes after =', () => {
    expect(inBash('cairn node gc --k')).toEqual(['--keep'])
    expect(inBash('cairn node apply --file = over')).toEqual(['overlay one.json'])
  })
})
