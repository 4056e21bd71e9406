// The names of series and steps, which the aims and the growth table look results up by.
export const steps = {
  importCold: 'import, nothing there',
  importAgain: 'import again, no change',
  verify: 'verify all content',
  dedup: 'share equal files',
  prepare: 'prepare with etc tree and units, nothing there',
  farmFirst: 'etc entries, first time (prepared before)',
  applyCold: 'prepare and apply, nothing there',
  farmAgain: 'apply again, no change',
  status: 'drift check',
  changedTogether: '1 % changed, in as few packages as can be',
  changedSpread: '1 % changed, each in another package',
  rollback: 'roll back',
  removed: 'all removed',
  gcDryRun: 'gc, dry run',
  gc: 'gc, half is dead',
  start: 'start',
  plan: 'plan over 1,000 units',
} as const

export const seriesOf = {
  files: (count: number, place: 'disk' | 'memory') =>
    `${count.toLocaleString('en')} files${place === 'memory' ? ', in memory' : ''}`,
  gc: (states: number, generations: number) => `${states.toLocaleString('en')} states in ${generations} generations`,
  ansible: (count: number) => `${count.toLocaleString('en')} files, beside ansible`,
  start: 'start-up',
  plan: 'pure planning',
}
