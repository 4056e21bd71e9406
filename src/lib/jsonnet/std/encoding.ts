// std: bytes, hashes, and the reading of JSON and YAML.
import { createHash } from 'node:crypto'
import { parseAllDocuments } from 'yaml'
import { messageOf } from '../../errors.ts'
import { plainObject } from '../object.ts'
import type { Value } from '../value.ts'
import type { Call, Natives } from './define.ts'

export const encoding: Natives = {
  'encodeUTF8(str)': call => Array.from(Buffer.from(call.string(0), 'utf8')),
  'decodeUTF8(arr)': call => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(call)),
  'base64(input)': call => {
    const input = call.value(0)
    if (typeof input !== 'string') return bytesOf(call).toString('base64')
    if (/[^\u0000-\u00ff]/.test(input))
      return call.fail('input has characters above 255; encode it with std.encodeUTF8')
    return Buffer.from(input, 'latin1').toString('base64')
  },
  'base64Decode(str)': call => fromBase64(call).toString('latin1'),
  'base64DecodeBytes(str)': call => Array.from(fromBase64(call)),
  'md5(s)': hash('md5'),
  'sha1(str)': hash('sha1'),
  'sha256(str)': hash('sha256'),
  'sha512(str)': hash('sha512'),
  'sha3(str)': hash('sha3-512'),
  'parseJson(str)': call =>
    fromData(
      call,
      readable(call, () => JSON.parse(call.string(0))),
    ),
  'parseYaml(str)': call => {
    const documents = readable(call, () =>
      parseAllDocuments(call.string(0)).map(document => {
        for (const error of document.errors) throw error
        const data: unknown = document.toJS({ maxAliasCount: 1_000 })
        return data
      }),
    )
    const values = documents.map(document => fromData(call, document))
    return values.length > 1 ? values : (values[0] ?? null)
  },
}

function readable<T>(call: Call, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw error
    return call.fail(messageOf(error).split('\n')[0] ?? '')
  }
}

function hash(name: string): (call: Call) => string {
  return call => createHash(name).update(call.string(0), 'utf8').digest('hex')
}

function bytesOf(call: Call): Buffer {
  const items = call.array(0).map(item => call.force(item))
  const isByte = (item: Value): item is number =>
    typeof item === 'number' && Number.isInteger(item) && item >= 0 && item < 256
  return items.every(isByte) ? Buffer.from(items) : call.fail('the array must hold bytes: whole numbers from 0 to 255')
}

function fromBase64(call: Call): Buffer {
  const text = call.string(0)
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return call.fail('str is not base64')
  return Buffer.from(text, 'base64')
}

function fromData(call: Call, data: unknown): Value {
  call.machine.makes(1)
  if (Array.isArray(data)) return data.map(item => fromData(call, item))
  if (data !== null && typeof data === 'object')
    return plainObject(
      Object.entries(data).map(([name, item]) => {
        const value = fromData(call, item)
        return [name, () => value]
      }),
    )
  if (data === null || data === undefined) return null
  if (typeof data === 'number' && !Number.isFinite(data)) return call.fail(`${data} is not a number of JSON`)
  return typeof data === 'number' || typeof data === 'boolean' ? data : String(data)
}
