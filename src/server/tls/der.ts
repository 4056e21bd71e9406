// DER as far as certificates need it: values are bytes, built from the inside out.

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, Buffer.concat(parts))
export const setOfOne = (part: Uint8Array): Buffer => tagged(0x31, part)
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.of(value ? 0xff : 0))
export const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes)
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text, 'utf8'))
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.concat([Buffer.of(unused), bytes]))
/** `[n]` around whole values. */
export const explicit = (tag: number, part: Uint8Array): Buffer => tagged(0xa0 | tag, part)
/** `[n]` in place of the value's own tag. */
export const implicit = (tag: number, bytes: Uint8Array): Buffer => tagged(0x80 | tag, bytes)

/** Not negative, big end first. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const body = bytes.subarray(start)
  return tagged(0x02, (body[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), body]) : body)
}

/** `1.2.840.10045.4.3.2`. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(arc: number): number[] {
  const bytes = [arc % 128]
  for (let more = Math.floor(arc / 128); more > 0; more = Math.floor(more / 128)) bytes.unshift(128 | (more % 128))
  return bytes
}

/** Before 2050 in the short form, as the standard wants it. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '')
  return at.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}

function tagged(tag: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}
