// Stacks as rows and back. Absent fields stay absent.
import type { Stack, StackResource } from '../../bundles/model/stack.ts'
import type { Columns } from './dialect.ts'
import type { Flag, StackResourceRow, StackRow } from './tables.ts'

export const flag = (value: boolean): Flag => (value ? 1 : 0)

export const stackRow = (stack: Omit<Stack, 'resources'>): StackRow => ({
  id: stack.id,
  name: stack.name,
  description: stack.description,
  created_at: stack.createdAt,
  updated_at: stack.updatedAt,
  revision: stack.revision,
  state: stack.state,
  config: JSON.stringify(stack.config),
  reconciled: flag(stack.config.reconcile !== undefined),
  sources: JSON.stringify(stack.sources),
  leftovers: stack.leftovers?.length ? JSON.stringify(stack.leftovers) : null,
})

export const stackOf = (row: StackRow, resources: StackResource[]): Stack => ({
  id: row.id,
  name: row.name,
  description: row.description,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  revision: row.revision,
  state: row.state as Stack['state'],
  config: JSON.parse(row.config),
  resources,
  sources: JSON.parse(row.sources),
  ...(row.leftovers === null ? {} : { leftovers: JSON.parse(row.leftovers) }),
})

export const stackResourceColumns: Columns<StackResourceRow> = {
  stack_id: 'text',
  kind: 'text',
  name: 'text',
  resource_id: 'text',
  api_version: 'text',
  associations: 'text',
  lifecycle: 'text',
  adopted: 'integer',
  last_applied: 'text',
  env_refs: 'text',
  applied_at: 'text',
}

export const stackResourceRow = (stackId: string, resource: StackResource): StackResourceRow => ({
  stack_id: stackId,
  kind: resource.kind,
  name: resource.name,
  resource_id: resource.id,
  api_version: resource.apiVersion,
  associations: JSON.stringify(resource.associations),
  lifecycle: JSON.stringify(resource.lifecycle),
  adopted: flag(resource.adopted),
  last_applied: resource.lastApplied === undefined ? null : JSON.stringify(resource.lastApplied),
  env_refs: JSON.stringify(resource.envRefs),
  applied_at: resource.appliedAt,
})

/** A listing selects no last_applied. */
export const stackResourceOf = (
  row: Omit<StackResourceRow, 'stack_id' | 'last_applied'> & { last_applied?: string | null },
): StackResource => ({
  apiVersion: row.api_version,
  kind: row.kind,
  name: row.name,
  id: row.resource_id,
  associations: row.associations === '[]' ? [] : JSON.parse(row.associations),
  lifecycle: row.lifecycle === '{}' ? {} : JSON.parse(row.lifecycle),
  adopted: row.adopted === 1,
  ...(row.last_applied ? { lastApplied: JSON.parse(row.last_applied) } : {}),
  envRefs: row.env_refs === '[]' ? [] : JSON.parse(row.env_refs),
  appliedAt: row.applied_at,
})
