// Writes the reference pages that are made from the sources: docs/commands.md, docs/kinds.md, docs/codes.md, docs/exit-codes.md.
// `node scripts/docs.ts` after a change to commands, kinds, codes or exit codes; a unit test says when it was forgotten.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { codeMeanings } from '../src/cli/codes.ts'
import type { Command, Topic } from '../src/cli/command.ts'
import { catalogue } from '../src/cli/commands/all.ts'
import { everywhere, helpOption, versionOption } from '../src/cli/everywhere.ts'
import { exitCodes } from '../src/cli/exit.ts'
import type { Parameters } from '../src/cli/parameter.ts'
import { usageLine } from '../src/cli/views/help.ts'
import { contentSettingsSchema } from '../src/resources/content-settings.ts'
import { kindsPage } from './kinds-page.ts'
import { madeFrom } from './made-from.ts'

const project = fileURLToPath(new URL('..', import.meta.url))

/** Path below the project to text. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  'docs/commands.md': commandsPage(),
  'docs/kinds.md': kindsPage(),
  'docs/codes.md': codesPage(),
  'docs/exit-codes.md': exitCodesPage(),
})

/** Literals of the form `subject.what-is-wrong` that are not files, units, settings, programs or hosts. */
export function codesInSources(): string[] {
  const files = globSync('src/**/*.ts', { cwd: project, exclude: ['**/*.{test,fake,suite}.ts', 'src/cli/codes.ts'] })
  const found = files.flatMap(file => [...readFileSync(`${project}/${file}`, 'utf8').matchAll(code)])
  const other = new Set([...Object.keys(contentSettingsSchema.shape), ...programsAndHosts, ...keyFiles])
  const literals = [...new Set(found.map(([, literal = '']) => literal))]
  return literals.filter(literal => !fileSuffix.test(literal) && !place.test(literal) && !other.has(literal)).sort()
}

const code = /'([a-z][a-z0-9]*(?:-[a-z0-9]+)*\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*)'/g
const fileSuffix = /\.(?:json|conf|d|service|target|socket|timer|mount|lock|sock|sh|ts|js|txt|md|yaml|crt|db|token)$/
/** Places in resources and requests, and columns of tables. */
const place = /^(?:metadata|spec|header|query|path|label|referrer|resources)\.|^(?:resource|stack)\.(?:id|kind|name)$/

const programsAndHosts = ['bitbucket.org', 'docker.io', 'github.com', 'mkfs.ext4', 'mkfs.vfat', 'mkfs.xfs']
const keyFiles = ['ca.key', 'server.key', 'vault.key']

function commandsPage(): string {
  const { commands, topics } = catalogue
  const groups = [...new Set(commands.map(({ group }) => group))]
  return [
    madeFrom('src/cli/commands/'),
    '# Commands\n',
    'Every command takes these options, before or after its name:\n',
    optionTable({ ...everywhere, ...helpOption, ...versionOption }),
    'What a command exits with: [exit codes](exit-codes.md). What an error code means: [codes](codes.md).\n',
    ...groups.flatMap(group => {
      const members = commands.filter(command => command.group === group)
      const first = new Set(members.map(({ name }) => name.split(' ')[0]))
      return [
        `## ${group}\n`,
        ...topics.filter(({ name }) => first.has(name)).map(topicSection),
        ...members.map(commandSection),
      ]
    }),
  ].join('\n')
}

const topicSection = ({ description }: Topic): string => description.map(paragraph => `${paragraph}\n`).join('\n')

function commandSection(command: Command): string {
  const { name, description, args, options, examples } = command
  const parameters = { ...args, ...options }
  return [
    `### cairn ${name}\n`,
    `\`${usageLine(command).replace('Usage: ', '')}\`\n`,
    ...description.map(paragraph => `${paragraph}\n`),
    ...(Object.keys(parameters).length > 0 ? [optionTable(parameters)] : []),
    ['```sh', ...examples.map(({ line, about }) => `${line}  # ${about}`), '```\n'].join('\n'),
  ].join('\n')
}

const optionTable = (parameters: Parameters): string =>
  [
    '| option | meaning |',
    '|---|---|',
    ...Object.values(parameters).map(({ spelling, about }) => `| \`${spelling}\` | ${about} |`),
    '',
  ].join('\n')

function codesPage(): string {
  const rows = Object.entries(codeMeanings).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return [
    madeFrom('src/cli/codes.ts'),
    '# Codes\n',
    'Every error and every problem has a code. It is stable: scripts may rely on it. With `--json` it stands in `error.code` and in `error.problems[].code`.\n',
    '| code | meaning |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function exitCodesPage(): string {
  return [
    madeFrom('src/cli/exit.ts'),
    '# Exit codes\n',
    'The same for all commands. A needed reboot is a notice and a field of the report, not an exit code. A process that is ended by a signal has no exit code of its own: shells show 128 plus its number.\n',
    '| code | meaning |',
    '|---|---|',
    ...Object.entries(exitCodes).map(([code, meaning]) => `| ${code} | ${meaning} |`),
    '',
  ].join('\n')
}

if (import.meta.main)
  for (const [path, text] of Object.entries(referencePages())) writeFileSync(`${project}/${path}`, text)
