// Runs a program for a test, with the files it may import given as values.
import type { Json } from '../json.ts'
import type { Problem } from '../problem.ts'
import { evaluateJsonnet, type JsonnetImporter } from './evaluate.ts'
import type { MachineOptions } from './machine.ts'

type Files = Readonly<Record<string, string | Uint8Array>>

export function resultOf(text: string, files?: Files, options?: Partial<MachineOptions>): Json {
  const result = evaluated(text, files, options)
  if ('problem' in result) throw new Error(`${text}: ${JSON.stringify(result.problem)}`)
  return result.value
}

export function problemOf(text: string, files?: Files, options?: Partial<MachineOptions>): Problem {
  const result = evaluated(text, files, options)
  if ('value' in result) throw new Error(`${text}: ${JSON.stringify(result.value)}`)
  return result.problem
}

function evaluated(text: string, files: Files = {}, options: Partial<MachineOptions> = {}) {
  return evaluateJsonnet({ file: 'main.jsonnet', text, importer: importerOf(files), extVars: {}, ...options })
}

function importerOf(files: Files): JsonnetImporter {
  return {
    resolve: (_, path) => {
      const content = files[path]
      return content === undefined
        ? { code: 'jsonnet.import', path: '', reason: `${path} is not there` }
        : { file: path, content }
    },
  }
}
