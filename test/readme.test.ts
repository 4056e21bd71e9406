// What people read first has to be true: the commands of README.md run as they stand, links lead somewhere, examples are
// accepted.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../src/bundles/model/source.ts'
import { readDocuments } from '../src/bundles/read/documents.ts'
import { understand } from '../src/bundles/validate/understand.ts'
import { catalogue } from '../src/cli/commands/all.ts'
import { parseChecksum } from '../src/lib/checksum.ts'
import { removeTree } from '../src/lib/durable.ts'
import { realFiles } from '../src/lib/files.ts'
import { readOverlayConfig } from '../src/overlay/config/read.ts'
import { kinds } from '../src/resources/kinds/all.ts'
import { run } from './machine/process.ts'

const project = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(project, path), 'utf8')

describe('the first ten minutes of README.md', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-readme-'))
    mkdirSync(join(directory, 'bin'))
    symlinkSync(join(project, 'bin/cairn'), join(directory, 'bin/cairn'))
  })
  afterAll(() => removeTree(realFiles, directory))

  const below = (path: string) => readFileSync(join(directory, 'try', path), 'utf8')

  /** What a command has to have done, by how it begins; in the order of the page. */
  const outcomes: readonly [string, (said: string) => void][] = [
    ['cat > overlay.json', () => expect(existsSync(join(directory, 'overlay.json'))).toBe(true)],
    ['bin/cairn node plan', said => expect(said).toMatch(/\+ motd[\s\S]*start +hello\.service/)],
    ['bin/cairn node apply', said => expect(said).toContain('Generation 1 is active')],
    ['bin/cairn node apply', said => expect(said).toContain('No changes.')],
    ['sed -i', () => {}],
    ['bin/cairn node apply', said => expect(said).toContain('Generation 2 is active')],
    ['cat try/etc/motd', said => expect(said).toBe('Kept by Cairn.\n')],
    ['bin/cairn node rollback', () => expect(below('etc/motd')).toBe('Built with Cairn.\n')],
    ['bin/cairn node status', said => expect(said).toContain('Generation 1 (overlay v1) is as declared')],
    ['bin/cairn node gc --dry-run', said => expect(said).toMatch(/Nothing to collect|Would free/)],
    ['bin/cairn node uninstall', () => expect(readdirSync(join(directory, 'try/etc'))).toEqual([])],
  ]

  it('go as the page says, command by command', async () => {
    const commands = shellCommands(sectionOf(read('README.md'), 'The first ten minutes'))
    expect(commands.map((command, index) => command.startsWith(outcomes[index]?.[0] ?? '?'))).toEqual(
      outcomes.map(() => true),
    )
    for (const [index, command] of commands.entries()) {
      const { code, stdout, stderr } = await run(['bash', '-e', '-c', command], { cwd: directory })
      expect({ code, stderr }, command).toEqual({ code: 0, stderr: '' })
      outcomes[index]![1](stdout)
    }
  })

  const contentOutcomes: readonly [string, (said: string) => void][] = [
    ['head', () => {}],
    ['bin/cairn content pull', said => expect(said).toContain('disk.raw is verified: 1 blob, 5.0 MB.')],
    ['bin/cairn content status', said => expect(said).toMatch(/verifier +running +no network \(tried: /)],
    ['bin/cairn volume create data', said => expect(said).toContain('data is ready: a read/write raw disk.')],
    ['bin/cairn volume create scratch', said => expect(said).toContain('0 B on disk')],
    ['bin/cairn volume list', said => expect(said).toMatch(/● data[\s\S]*● scratch/)],
    ['bin/cairn volume rm', () => expect(readdirSync(join(directory, 'try/cairn/volumes'))).not.toContain('data')],
  ]

  it('go on with content and volumes as the page says', async () => {
    const commands = shellCommands(sectionOf(read('README.md'), 'Content and volumes'))
    expect(commands).toHaveLength(contentOutcomes.length)
    for (const [index, command] of commands.entries()) {
      const [beginning, check] = contentOutcomes[index]!
      expect(command.startsWith(beginning), command).toBe(true)
      const { code, stdout, stderr } = await run(['bash', '-e', '-c', command], { cwd: directory })
      expect(code, `${command}\n${stderr}`).toBe(0)
      check(stdout)
    }
  })
})

describe('bundles and stacks of README.md', () => {
  let directory: string
  let server: ChildProcess
  const [up = '', ...commands] = shellCommands(sectionOf(read('README.md'), 'Bundles and stacks'))
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-readme-'))
    mkdirSync(join(directory, 'bin'))
    symlinkSync(join(project, 'bin/cairn'), join(directory, 'bin/cairn'))
    const command = `exec ${up.replace(/ +#.*/, '')} --listen 127.0.0.1:0`
    server = spawn('bash', ['-c', command], { cwd: directory, stdio: 'ignore' })
    await vi.waitFor(() => expect(existsSync(join(directory, 'control/server.json'))).toBe(true), 30_000)
  })
  afterAll(async () => {
    server.kill('SIGTERM')
    await once(server, 'exit')
    removeTree(realFiles, directory)
  })

  const outcomes: readonly [string, (said: string) => void][] = [
    ['export CAIRN_DATA', () => {}],
    ['cat > shop.yaml', () => {}],
    ['bin/cairn validate', said => expect(said).toContain('Valid: 2 resources in 1 file.')],
    [
      'bin/cairn plan',
      said => expect(said).toMatch(/\+ Label\/edge[\s\S]*\+ Machine\/cleo[\s\S]*Plan: 2 create, 0 delete/),
    ],
    ['bin/cairn apply', said => expect(said).toContain('Applied to stack shop: 2 created')],
    ['bin/cairn apply', said => expect(said).toBe('No changes. Stack shop is as declared.\n')],
    ['sed -i', () => {}],
    ['bin/cairn plan', said => expect(said).toContain('spec.tags: [edge] → [edge, test]')],
    ['bin/cairn apply --plan', said => expect(said).toContain('1 updated')],
    ['bin/cairn get', said => expect(said).toMatch(/cleo .*edge, test/)],
    ['bin/cairn export', said => expect(said).toMatch(/kind: Label[\s\S]*kind: Machine[\s\S]*- test/)],
    ['bin/cairn stacks uninstall', said => expect(said).toContain('Uninstalled stack shop.')],
  ]

  it('go as the page says, command by command', async () => {
    expect(commands).toHaveLength(outcomes.length)
    for (const [index, command] of commands.entries()) {
      const [beginning, check] = outcomes[index]!
      expect(command.startsWith(beginning), command).toBe(true)
      const { code, stdout, stderr } = await run(['bash', '-e', '-c', `${commands[0]}\n${command}`], { cwd: directory })
      expect(code, `${command}\n${stderr}`).toBe(0)
      check(stdout)
    }
  })
})

describe('docs/bundles.md', () => {
  it('shows a resource without a problem, and commands that there are', () => {
    const page = read('docs/bundles.md')
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
    const others = 'kind: Machine\nmetadata: { name: atlas }\n---\nkind: Label\nmetadata: { name: home }\n'
    const documents = readDocuments([{ name: 'bundles.md', content: `${example}---\n${others}` }], defaultLimits)
    const { problems } = understand(documents, { kinds, env: {}, options: {}, limits: defaultLimits })
    expect(problems).toEqual([])
    const named = [...page.matchAll(/cairn ((?:stacks |token |secret )?[a-z]+)/g)].map(([, name = '']) => name)
    const known = new Set([...catalogue.commands, ...catalogue.topics].map(({ name }) => name))
    expect(named.filter(name => !known.has(name) && !known.has(name.split(' ')[0]!))).toEqual([])
  })
})

describe('links', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...pagesBelow('docs'),
    ...pagesBelow('examples'),
  ]

  it.each(pages)('of %s lead to files that are there', page => {
    const relative = [
      ...read(page)
        .replace(/`[^`\n]*`/g, '')
        .matchAll(/\]\(([^)\s]+)\)/g),
    ]
      .map(([, link = '']) => link.replace(/#.*/, ''))
      .filter(link => link !== '' && !/^[a-z]+:/.test(link))
    expect(relative.filter(link => !existsSync(join(project, dirname(page), link)))).toEqual([])
  })

  it('are there at all', () => {
    expect(read('README.md')).toContain('](docs/overlay.md)')
  })
})

describe('docs/overlay.md', () => {
  it('shows a config that is accepted', () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(read('docs/overlay.md')) ?? []
    const text = example.replace(/sha256:(\w+)…/, (_, start: string) => `sha256:${start.padEnd(64, '0')}`)
    const { problems, warnings, config } = readOverlayConfig({ file: 'docs/overlay.md', text })
    expect({ problems, warnings }).toEqual({ problems: [], warnings: [] })
    const [checksum] = Object.values(config.packageByNames ?? {}).map(({ source }) =>
      parseChecksum(source.checksum ?? ''),
    )
    expect(checksum).toMatchObject({ algorithm: 'sha256' })
  })
})

function pagesBelow(directory: string): string[] {
  const all = readdirSync(join(project, directory), { recursive: true }) as string[]
  return all.filter(path => path.endsWith('.md')).map(path => join(directory, path))
}

function sectionOf(page: string, title: string): string {
  const [, section] = page.split(`\n## ${title}\n`)
  if (section === undefined) throw new Error(`there is no section "${title}"`)
  return section.split('\n## ')[0]!
}

/** The commands of all shell blocks; one that feeds a program until a word is one command. */
function shellCommands(section: string): string[] {
  const lines = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trimEnd().split('\n'))
  const commands: string[] = []
  while (lines.length > 0) {
    const first = lines.shift()!
    const [, word] = /<<'?(\w+)'?/.exec(first) ?? []
    commands.push(word ? [first, ...lines.splice(0, lines.indexOf(word) + 1)].join('\n') : first)
  }
  return commands
}
