import type { Stack } from '../model/stack.ts'

/** The record of a stack that has nothing yet. */
export const newStack = ({ id, name, at }: { id: string; name: string; at: string }): Stack => ({
  id,
  name,
  description: '',
  createdAt: at,
  updatedAt: at,
  revision: 1,
  state: 'active',
  config: { urls: [] },
  resources: [],
  sources: [],
})
