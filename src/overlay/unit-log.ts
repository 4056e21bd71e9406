// The last lines that a unit logged: the answer to "why did it fail" that people look for first.

import type { NodeContext } from './context.ts'
import { isUnitFileName } from './units/unit-name.ts'

const lines = 10

/** Empty for what is not a unit, and where nothing is kept. */
export async function unitLog({ systemd }: NodeContext, name: string): Promise<string[]> {
  return isUnitFileName(name) ? systemd.lastLines(name, lines) : []
}
