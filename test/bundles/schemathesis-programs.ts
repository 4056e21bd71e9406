import { existsSync } from 'node:fs'
import { join } from 'node:path'

const place = join(import.meta.dirname, '../../node_modules/.cache/schemathesis/bin')

/** Where schemathesis.txt has its programs put; null when nobody did. */
export const schemathesisPrograms = (): string | null => (existsSync(join(place, 'schemathesis')) ? place : null)
