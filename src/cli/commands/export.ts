import { answer, command } from '../command.ts'
import { choice, flag, list, text } from '../parameter.ts'
import { bundleGroup, serverOptions } from '../server.ts'

export const exportCommand = command({
  name: 'export',
  group: bundleGroup,
  nature: 'question',
  summary: 'live resources as a bundle',
  description: [
    'Writes what is live so that applying it changes nothing. Labels and everything referred to come along. Names that a stack has recorded are kept; others are made from the display name and are the same each time.',
    'Options select together: what is in one of the stacks or named, of one of the kinds, with one of the labels.',
  ],
  options: {
    stack: list(text('--stack STACK', 'all of a stack; may be given again')),
    all: flag('--all', 'everything there is; also what --kind and --label alone select from'),
    resource: list(text('--resource KIND/NAME', 'one by its display name, or KIND/id:ID; may be given again')),
    kind: list(text('--kind KIND', 'only of this kind; may be given again')),
    label: list(text('--label LABEL', 'only with this label; may be given again')),
    name: list(text('--name NAME', 'only with this display name; may be given again')),
    noDeps: flag('--no-deps', 'leave out what is referred to, and name it as external'),
    resolve: flag('--resolve', 'values instead of the env refs of the source'),
    strictNames: flag('--strict-names', 'names without underscores'),
    output: choice('-o, --output FORMAT', 'default yaml', ['yaml', 'json']),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn export --stack homelab > homelab.yaml', about: 'a stack' },
    { line: 'cairn export --all', about: 'everything' },
    { line: 'cairn export --kind Volume --label edge', about: 'volumes at the edge, with what they need' },
  ],
  run: async (values, session) => {
    const { exportResources } = await import('../bundle-commands.ts')
    const { exportedJson, exportedYaml } = await import('../../bundles/export/text.ts')
    const report = await exportResources(values)
    if (report.length === 0 && !session.json) session.terminal.err.write('Nothing matched; the bundle is empty.\n')
    const print = values.output === 'json' ? exportedJson : exportedYaml
    return answer({ report, print: found => print(found).trimEnd() })
  },
})
