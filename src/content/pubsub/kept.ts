// Requests that outlive the one who made them and the machine's power: one file each, named by a hash, so that no key is
// ever a path. What cannot be read is told and left where it is.
import { join } from 'node:path'
import * as z from 'zod'
import { litterPrefix, removeIfThere, syncDirectory, writeDurably } from '../../lib/durable.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { sha256Hex } from '../../lib/json.ts'
import { type TopicName, topics } from '../topics.ts'
import { canonical } from './published.ts'
import { issuesOf, maxKey } from './wire.ts'

export interface KeptRequest {
  readonly topic: TopicName
  readonly key: string
  /** Canonical. */
  readonly text: string
}

export interface KeptRequests {
  readonly all: readonly KeptRequest[]
  /** On disk when it returns. */
  write(request: KeptRequest): void
  /** Gone from disk when it returns; may not have been there. */
  remove(topic: TopicName, key: string): void
}

const fileSchema = z.strictObject({ topic: z.string(), key: z.string().max(maxKey), value: z.unknown() })

export function openKept(files: Files, directory: string, log: (line: string) => void): KeptRequests {
  const all: KeptRequest[] = []
  for (const name of files.readdir(directory).sort()) {
    const path = join(directory, name)
    if (name.startsWith(litterPrefix)) removeIfThere(files, path)
    else if (name.endsWith('.json')) {
      const request = read(files, path)
      if (typeof request === 'string') log(`the kept request ${path} is left alone: ${request}`)
      else all.push(request)
    }
  }
  const pathOf = (topic: TopicName, key: string) => join(directory, `${sha256Hex(`${topic}\0${key}`)}.json`)

  return {
    all,
    write: ({ topic, key, text }) => {
      const content = `{"topic":${JSON.stringify(topic)},"key":${JSON.stringify(key)},"value":${text}}\n`
      writeDurably(files, pathOf(topic, key), content, { mode: 0o600 })
    },
    remove: (topic, key) => {
      removeIfThere(files, pathOf(topic, key))
      syncDirectory(files, directory)
    },
  }
}

/** The request, or what is wrong with it. */
function read(files: Files, path: string): KeptRequest | string {
  try {
    const { topic, key, value } = fileSchema.parse(JSON.parse(files.readFile(path).toString('utf8')))
    if (!isKeptTopic(topic)) return `${topic} is no topic that is kept`
    const message = topics[topic].schema.safeParse(value)
    return message.success ? { topic, key, text: canonical(message.data) } : issuesOf(message.error)
  } catch (error) {
    if (error instanceof z.ZodError) return issuesOf(error)
    // The message of a SyntaxError quotes the text, which may hold a secret.
    return error instanceof SyntaxError ? 'it is not JSON' : messageOf(error)
  }
}

const isKeptTopic = (name: string): name is TopicName => Object.hasOwn(topics, name) && mayKeep(name as TopicName)

export const mayKeep = (topic: TopicName): boolean => 'keeps' in topics[topic]
