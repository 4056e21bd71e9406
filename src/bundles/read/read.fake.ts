// Reads one text for a test, and shows what came out in a form that fits on a line.
import { type Documents, defaultLimits, type Limits, type Source } from '../model/source.ts'
import { readDocuments } from './documents.ts'

export function readText(content: Source['content'], name = 'f.yaml', limits: Partial<Limits> = {}): Documents {
  return readDocuments([{ name, content }], { ...defaultLimits, ...limits })
}

export const valuesOf = ({ documents }: Documents): unknown[] => documents.map(({ value }) => value)

/** `yaml.tab resources[0] f.yaml:2:1`. */
export const toldBy = ({ problems }: Pick<Documents, 'problems'>): string[] =>
  problems.map(({ code, path, source }) =>
    [code, path, source && `${source.file}:${source.line}:${source.column}`].filter(Boolean).join(' '),
  )
