// An exported bundle as text: a stream of YAML documents, or a JSON array. The same bytes each time.
import { stringify } from 'yaml'
import type { ExportedResource } from '../engine.ts'

/** Texts that older readers would take for numbers or times are quoted: `"02:00"`. */
const options = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const

export const exportedYaml = (resources: readonly ExportedResource[]): string =>
  resources.map(resource => stringify(resource, options)).join('---\n')

export const exportedJson = (resources: readonly ExportedResource[]): string =>
  `${JSON.stringify(resources, null, 2)}\n`
