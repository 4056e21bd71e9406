// Examples are tests: each folder has the plan that its configs give on a machine where nothing of Cairn is active yet.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runOrThrow } from './machine/process.ts'

const examples = join(import.meta.dirname, '../examples')
const folders = readdirSync(examples, { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name)

describe.each(folders)('examples/%s', folder => {
  const directory = join(examples, folder)

  it('gives the plan that it says', async () => {
    const configs = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
    const plans = await Promise.all(
      configs.sort().map(async name => `$ cairn node plan -f ${name}\n${await planOf(name)}`),
    )
    await expect(plans.join('\n')).toMatchFileSnapshot(join(directory, 'expected-plan.txt'))
  })

  const isBundle = readdirSync(directory).some(name => name.endsWith('.yaml'))
  if (isBundle)
    it('is a bundle without a problem', async () => {
      const cairn = join(examples, '../bin/cairn')
      const { stdout } = await runOrThrow([cairn, 'validate', '--offline', '-f', directory])
      expect(stdout).toMatch(/^Valid: \d+ resources in \d+ files\./)
    })

  it('has a page that names files which are there', () => {
    const page = readFileSync(join(directory, 'README.md'), 'utf8')
    const named = [...page.matchAll(/\b(?:bin\/cairn|examples\/[\w./-]+\.json)\b/g)].map(([path]) => path)
    expect(named).not.toEqual([])
    expect(named.filter(path => !existsSync(join(examples, '..', path)))).toEqual([])
  })

  async function planOf(name: string): Promise<string> {
    const root = mkdtempSync(join(tmpdir(), 'cairn-example-'))
    try {
      const cairn = join(examples, '../bin/cairn')
      const { stdout } = await runOrThrow([cairn, 'node', 'plan', '-f', join(directory, name), '--root', root])
      return stdout
    } finally {
      // States are read-only, their directories too.
      await runOrThrow(['chmod', '-R', 'u+w', root])
      rmSync(root, { recursive: true, force: true })
    }
  }
})
