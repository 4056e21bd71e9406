import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const versions = '/usr/lib/postgresql'

/** Where Debian puts the programs of PostgreSQL, of the newest version there is; null when it is not installed. */
export function postgresPrograms(): string | null {
  if (!existsSync(versions)) return null
  const newest = readdirSync(versions).sort((a, b) => Number(b) - Number(a))
  return newest.map(version => join(versions, version, 'bin')).find(bin => existsSync(join(bin, 'initdb'))) ?? null
}
