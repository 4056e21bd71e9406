// The names of series, steps and rows, which the aims look results up by.
export const steps = {
  validate: 'validate',
  planNew: 'plan, nothing there',
  firstApply: 'first apply',
  planSame: 'plan, no change',
  noOp: 'apply again, no change',
  planJson: 'plan, no change, JSON',
  onePercent: 'apply, 1 % changed',
  export: 'export as YAML',
} as const

export const parts = {
  read: 'read YAML',
  validate: 'validate',
  planNew: 'plan, nothing there',
  planSame: 'plan, no change',
} as const

export const who = { wall: 'time', cpu: 'processor time of the server' } as const

export const databases = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const
export type DatabaseKind = keyof typeof databases

export const seriesOf = {
  parts: (count: number) => `parts of a plan, ${count.toLocaleString('en')} resources in memory`,
  operations: (database: DatabaseKind, count: number) =>
    `${count.toLocaleString('en')} resources, ${databases[database]}`,
  load: (database: DatabaseKind) => `requests under load, ${databases[database]}`,
  cli: 'cairn plan',
  kubectl: 'beside kubectl',
}
