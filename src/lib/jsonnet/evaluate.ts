// Jsonnet, complete and of our own: text in, JSON out. Reaches nothing but what the importer gives it, and gives the same
// answer every time. What a program does is counted and limited, so a bad one ends with a Problem and never takes the host along.
import type { Json } from '../json.ts'
import type { Problem } from '../problem.ts'
import { apply } from './call.ts'
import { compileFile, type Unit } from './compile.ts'
import { JsonnetFailure, type Site, type SourceFile } from './failure.ts'
import { Machine, type MachineOptions } from './machine.ts'
import { manifestJson } from './manifest.ts'
import { parse } from './parser.ts'
import { standardLibrary } from './std/all.ts'
import { Frame, isFunction, type Value } from './value.ts'

/** Finds what an import names. `file` tells files apart, and stands in messages. */
export interface JsonnetImporter {
  resolve(fromFile: string, path: string): { readonly file: string; readonly content: string | Uint8Array } | Problem
}

export interface JsonnetProgram extends MachineOptions {
  readonly file: string
  readonly text: string
  readonly importer: JsonnetImporter
}

/** A program that is a function is called, with the defaults of its parameters. */
export function evaluateJsonnet(program: JsonnetProgram): { value: Json } | { problem: Problem } {
  const file = { name: program.file, text: withoutMark(program.text) }
  const machine = new Machine({ file, offset: 0 }, program)
  try {
    const value = fileRunner(machine, program.importer)(file)
    return { value: manifestJson(isFunction(value) ? apply(machine, value) : value, machine) }
  } catch (error) {
    return { problem: problemOf(error, machine) }
  }
}

/** The host has limits of its own: its stack can be full before ours is, and its strings end somewhere. */
function problemOf(error: unknown, machine: Machine): Problem {
  if (error instanceof JsonnetFailure) return error.problem
  if (!(error instanceof RangeError)) throw error
  try {
    if (/call stack/.test(error.message)) machine.tooDeep('host')
    return machine.fail('a value is too large', null, 'jsonnet.too-large')
  } catch (failure) {
    if (failure instanceof JsonnetFailure) return failure.problem
    throw failure
  }
}

/** Each file is read once, and each import evaluated once. */
function fileRunner(machine: Machine, importer: JsonnetImporter): (file: SourceFile) => Value {
  const found = new Map<string, { file: string; content: string | Uint8Array }>()
  const values = new Map<string, Value>()
  const running = new Set<string>()

  const find = (from: SourceFile, path: string, site: Site) => {
    const key = JSON.stringify([from.name, path])
    const known = found.get(key)
    if (known) return known
    const result = importer.resolve(from.name, path)
    if ('code' in result) return machine.fail(result.reason, site, 'jsonnet.import')
    machine.holds(result.content.length)
    found.set(key, result)
    return result
  }

  const run = (file: SourceFile): Value => {
    const unit: Unit = {
      machine,
      file,
      load: (path, how, site) => {
        const { file: name, content } = find(file, path, site)
        if (how === 'importstr') return textOf(content)
        if (how === 'importbin') return Array.from(Buffer.from(content as Uint8Array))
        const known = values.get(name)
        if (known !== undefined) return known
        if (running.has(name)) return machine.fail(`${name} needs its own value`, site, 'jsonnet.recursion')
        running.add(name)
        machine.enter(site)
        const value = run({ name, text: withoutMark(textOf(content)) })
        machine.leave()
        values.set(name, value)
        return value
      },
    }
    return compileFile(unit, parse(file))(new Frame(null, [standardLibrary(file.name)], null, 0))
  }
  return run
}

const textOf = (content: string | Uint8Array) =>
  typeof content === 'string' ? content : new TextDecoder().decode(content)

const withoutMark = (text: string) => (text.startsWith('\uFEFF') ? text.slice(1) : text)
