// Journals of applies to platforms of their own. Each call is a commit of its own, on disk when it returns.
import { sql } from 'kysely'
import type { Journals, OpenJournal } from '../../bundles/store.ts'
import type { Connections } from './connections.ts'
import type { Tables } from './tables.ts'

type Step = OpenJournal['steps'][number]
type StepRow = Tables['journal_steps']

export function journalsIn({ read, write, dialect }: Connections): Journals {
  const change = (journalId: string, seq: number, to: Partial<StepRow>) =>
    write(async tx => {
      await tx.updateTable('journal_steps').set(to).where('journal_id', '=', journalId).where('seq', '=', seq).execute()
    })
  return {
    begin: ({ id, stackId, planId, by }) =>
      write(async tx => {
        await tx
          .insertInto('journals')
          .values({ id, stack_id: stackId, plan_id: planId, started_by: by, committed: 0 })
          .execute()
      }),

    intend: (journalId, { seq, platform, write: intended, before }) =>
      write(async tx => {
        await tx
          .insertInto('journal_steps')
          .values({
            journal_id: journalId,
            seq,
            platform,
            write: JSON.stringify(intended),
            before: before === null ? null : JSON.stringify(before),
            state: 'intended',
          })
          .execute()
      }),

    done: (journalId, seq, id, revision) => change(journalId, seq, { state: 'done', resource_id: id, revision }),
    undone: (journalId, seq) => change(journalId, seq, { state: 'undone' }),

    end: journalId =>
      write(async tx => {
        await tx.deleteFrom('journals').where('id', '=', journalId).execute()
      }),

    open: stackId =>
      read(async tx => {
        let query = tx.selectFrom('journals').selectAll().orderBy('number')
        if (stackId !== undefined) query = query.where('stack_id', '=', stackId)
        const journals = await query.execute()
        const ids = journals.map(({ id }) => id)
        const rows = await tx
          .selectFrom('journal_steps')
          .selectAll()
          .where(dialect.oneOf(sql.ref('journal_id'), ids))
          .orderBy('seq')
          .execute()
        const steps = Map.groupBy(rows, row => row.journal_id)
        return journals.map(({ id, stack_id, plan_id, started_by, committed }) => ({
          id,
          stackId: stack_id,
          planId: plan_id,
          by: started_by,
          committed: committed === 1,
          steps: (steps.get(id) ?? []).map(stepOf),
        }))
      }),
  }
}

const stepOf = (row: StepRow): Step => ({
  seq: row.seq,
  platform: row.platform,
  write: JSON.parse(row.write),
  before: row.before === null ? null : JSON.parse(row.before),
  state: row.state,
  ...(row.resource_id !== null && { id: row.resource_id }),
  ...(row.revision !== null && { revision: row.revision }),
})
