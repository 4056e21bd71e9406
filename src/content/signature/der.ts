// A reader of DER for the few fields of a certificate that node:crypto does not tell. Anything odd reads as null.

export interface DerValue {
  readonly tag: number
  readonly content: Buffer
}

export const derTags = { boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, sequence: 0x30 } as const

/** The values that fill the bytes, one after another. Only short tags and definite lengths, as certificates have them. */
export function readDer(bytes: Buffer): DerValue[] | null {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at]!
    const first = bytes[at + 1]
    if (first === undefined || (tag & 0x1f) === 0x1f) return null
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f
    const start = at + 2 + lengthBytes
    if (first === 0x80 || lengthBytes > 4 || start > bytes.length) return null
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
    at = start + length
    if (at > bytes.length) return null
    values.push({ tag, content: bytes.subarray(start, at) })
  }
  return values
}

/** The values inside a sequence; null when it is none. */
export const readSequence = (value: DerValue | undefined): DerValue[] | null =>
  value?.tag === derTags.sequence ? readDer(value.content) : null

/** `2.5.29.19`; null when it is none. */
export function readOid(value: DerValue | undefined): string | null {
  if (value?.tag !== derTags.oid || value.content.length === 0 || value.content.at(-1)! >= 0x80) return null
  const arcs: number[] = []
  let arc = 0
  for (const byte of value.content) {
    arc = arc * 0x80 + (byte & 0x7f)
    if (arc > 2 ** 40) return null
    if (byte >= 0x80) continue
    arcs.push(arc)
    arc = 0
  }
  const [first = 0, ...others] = arcs
  const top = Math.min(Math.floor(first / 40), 2)
  return [top, first - 40 * top, ...others].join('.')
}
