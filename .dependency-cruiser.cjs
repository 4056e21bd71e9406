// Arrows between the rooms go down only. The list is the house from the roof to the ground;
// a room may import the rooms after it, never one before it.
const rooms = [
  'cli',
  'server',
  'agent',
  'kubernetes',
  'rollout',
  'inventory',
  'bundles',
  'prefetch',
  'volumes',
  'overlay',
  'content',
  'resources',
  'lib',
]
const machineSide = ['content', 'volumes', 'overlay', 'agent']
const serverSide = ['server', 'bundles', 'inventory']

const upward = rooms.slice(1).map((room, index) => ({
  name: `${room}-looks-down-only`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: `^src/(${rooms.slice(0, index + 1).join('|')})/` },
}))

module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'machines-do-not-know-the-server',
      severity: 'error',
      from: { path: `^src/(${machineSide.join('|')})/` },
      to: { path: `^src/(${serverSide.join('|')})/` },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'a-plan-touches-nothing',
      comment: 'plan*.ts decides; it may not reach for disk, network or processes.',
      severity: 'error',
      from: { path: '^src/.*/plan[^/]*\\.ts$', pathNot: '\\.test\\.ts$' },
      to: { path: '^(node:)?(fs|child_process|net|http|https|os)(/|$)', dependencyTypes: ['core'] },
    },
    {
      name: 'the-product-does-not-import-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.(test|suite|fake)\\.ts$' },
      to: { path: '(\\.(test|suite|fake)\\.ts$)|^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
}
