// Content types: what a caller takes, and what it sent.

/** The first of what is offered that the header takes best; null when it takes none of them. */
export function acceptedType(header: string | undefined, offered: readonly string[]): string | null {
  if (header === undefined || header.trim() === '') return offered[0] ?? null
  const ranges = header.slice(0, 2_000).split(',').map(rangeOf)
  let best: { type: string; quality: number } | null = null
  for (const type of offered) {
    const quality = qualityOf(type, ranges)
    if (quality > (best?.quality ?? 0)) best = { type, quality }
  }
  return best?.type ?? null
}

interface Range {
  readonly type: string
  readonly quality: number
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map(part => part.trim().toLowerCase())
  const given = parameters.find(parameter => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** The most exact range decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  for (const pattern of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const range = ranges.find(candidate => candidate.type === pattern)
    if (range) return range.quality
  }
  return 0
}

/** The bare type of a body in UTF-8; null when it says otherwise or nothing. */
export function bodyType(header: string | undefined): string | null {
  const [type = '', ...parameters] = (header ?? '').split(';').map(part => part.trim().toLowerCase())
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(type)) return null
  const charset = parameters.find(parameter => parameter.startsWith('charset='))
  return charset === undefined || /^charset="?(utf-8|utf8)"?$/.test(charset) ? type : null
}
