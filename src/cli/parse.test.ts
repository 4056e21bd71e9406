import { describe, expect, it } from 'vitest'
import { catalogue } from './commands/all.ts'
import { parseCommandLine } from './parse.ts'
import { UsageError } from './usage.ts'

const parsed = (line: string) => parseCommandLine(line.split(' ').filter(Boolean), catalogue)

const valuesOf = (line: string) => {
  const request = parsed(line)
  if (request.do !== 'run') throw new Error(`${line} asks for help`)
  return request.values
}

function usageError(line: string): UsageError {
  try {
    parsed(line)
  } catch (error) {
    if (error instanceof UsageError) return error
  }
  throw new Error(`${line} was understood`)
}

describe('values', () => {
  it('are there only when given, under the names that the overlay has for them', () => {
    expect(valuesOf('node gc')).toEqual({})
    expect(valuesOf('node gc --keep 3 --older-than 1h30m --max-freed 10GB --dry-run --root ./try')).toEqual({
      keep: 3,
      olderThanMs: 5_400_000,
      maxFreedBytes: 10_000_000_000,
      dryRun: true,
      root: './try',
    })
  })

  it('of --no-x options are set by the option, not by its absence', () => {
    expect(valuesOf('node apply -f x')).toEqual({ file: 'x' })
    expect(valuesOf('node apply -f x --no-rollback --no-systemd')).toEqual({
      file: 'x',
      keepFailed: true,
      noSystemd: true,
    })
  })

  it('of an option that may be repeated come as a list', () => {
    expect(valuesOf('node plan -f - --overwrite-drift a --overwrite-drift b')).toEqual({
      file: '-',
      overwriteDrift: ['a', 'b'],
    })
  })

  it('of arguments stand beside those of options', () => {
    expect(valuesOf('node confirm')).toEqual({})
    expect(valuesOf('node confirm k3jd --store /data')).toEqual({ id: 'k3jd', store: '/data' })
    expect(valuesOf('help node apply')).toEqual({ words: ['node', 'apply'] })
  })

  it('may be joined with = or with the short option', () => {
    expect(valuesOf('node rollback --to=3')).toEqual({ to: 3 })
    expect(valuesOf('node plan -foverlay.json')).toEqual({ file: 'overlay.json' })
  })
})

it('takes the options of every command before and after its name', () => {
  for (const line of ['--json -q node status', 'node --json status -q', 'node status --json --quiet'])
    expect(parsed(line)).toMatchObject({ do: 'run', everywhere: { json: true, quiet: true } })
})

describe('help', () => {
  it.each([
    ['', ''],
    ['--help', ''],
    ['node', 'node'],
    ['node --help', 'node'],
    ['node apply -h', 'node apply'],
    ['node why --help', 'node why'],
  ])('"%s" asks for help about "%s"', (line, about) => {
    expect(parsed(line)).toEqual({ do: 'help', about })
  })
})

describe('a command line that cannot be understood', () => {
  it.each([
    ['nod', 'usage.unknown-command', 'did you mean node?'],
    ['node aply', 'usage.unknown-command', 'did you mean apply?'],
    ['rollback', 'usage.unknown-command', 'did you mean "cairn node rollback"?'],
    ['frobnicate', 'usage.unknown-command', 'See: cairn --help'],
    ['node gc --dry-rn', 'usage.unknown-option', 'did you mean --dry-run?'],
    ['node gc --jsno', 'usage.unknown-option', 'did you mean --json?'],
    ['node gc --frobnicate', 'usage.unknown-option', 'See: cairn node gc --help'],
    ['node gc --keep', 'usage.missing-value', 'See: cairn node gc --help'],
    ['node status x', 'usage.too-many-arguments', 'See: cairn node status --help'],
    ['node apply', 'usage.missing-option', 'See: cairn node apply --help'],
    ['node why', 'usage.missing-argument', 'See: cairn node why --help'],
    ['completion bsh', 'usage.bad-value', 'did you mean "bash"?'],
    ['completion x', 'usage.bad-value', 'One of: bash, zsh, fish.'],
  ])('"%s" is %s with a hint', (line, code, hint) => {
    expect(usageError(line)).toMatchObject({ code, hint })
  })

  it.each([
    'node gc --keep 0',
    'node gc --keep three',
    'node gc --keep -1',
    'node gc --older-than soon',
    'node gc --max-freed big',
    'node rollback --to 1.5',
    'node apply -f x --confirm-within 60',
  ])('"%s" names the option and what it takes', line => {
    const { code, message } = usageError(line)
    expect(code).toBe('usage.bad-value')
    expect(message).toMatch(/^--[a-z-]+: ".*" is not a /)
  })
})

describe('the catalogue', () => {
  it.each(catalogue.commands.map(command => [command.name, command] as const))(
    '%s has examples that parse',
    (_, command) => {
      expect(command.examples.length).toBeGreaterThan(0)
      for (const { line } of command.examples) {
        const words = line.replace(/^source <\(|\)$|\$\([^)]*\)| [<>] .*$/g, found =>
          found.startsWith('$') ? 'x' : '',
        )
        expect(parsed(words.replace(/^cairn /, ''))).toMatchObject({ do: 'run', command: { name: command.name } })
      }
    },
  )

  it('says what each command does in one short line', () => {
    for (const { summary } of [...catalogue.commands, ...catalogue.topics])
      expect(summary).toMatch(/^[a-z].{5,70}[^.]$/)
  })
})
