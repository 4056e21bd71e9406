// Cuts a YAML stream into its documents by its marker lines alone, so that one broken document cannot swallow the next:
// `---` and `...` at the start of a line are markers everywhere, in quotes and block scalars too (YAML 1.2, 9.1.2).

export interface YamlPart {
  /** From the first directive or the marker on. */
  readonly start: number
  /** Behind the marker. Undefined when directives stand before it. */
  readonly body: number | undefined
  readonly end: number
}

/** Parts without any content are left out. */
export function* yamlParts(text: string): Generator<YamlPart> {
  const nextMarker = markersOf(text)
  let start = 0
  let body: number | undefined = 0
  let isBare = true
  const hasContent = (end: number) => body === undefined || contentFrom(text, body, end) < end
  for (let marker = nextMarker(0); marker < text.length; marker = nextMarker(marker + 3)) {
    if (text[marker] === '-') {
      if (isBare && areDirectives(text, start, marker)) {
        // They belong to the document that begins with this marker.
        body = undefined
      } else {
        if (hasContent(marker)) yield { start, body, end: marker }
        start = marker
        body = marker + 3
      }
      isBare = false
      continue
    }
    const lineEnd = endOfLine(text, marker)
    // What stands behind `...` on its line is a mistake, for the parser to tell.
    const end = contentFrom(text, marker + 3, lineEnd) === lineEnd ? marker : lineEnd
    if (hasContent(end)) yield { start, body, end }
    start = body = lineEnd
    isBare = true
  }
  if (hasContent(text.length)) yield { start, body, end: text.length }
}

/** The first offset that is neither space nor in a comment, or `end`. */
export function contentFrom(text: string, from: number, end: number): number {
  let at = from
  while (at < end) {
    const char = text[at]
    if (char === '#') at = Math.min(endOfLine(text, at), end)
    else if (char === ' ' || char === '\n' || char === '\t' || char === '\r') at++
    else return at
  }
  return end
}

/** Only lines that begin with `%`, comments and blank ones, and at least one of the first. */
function areDirectives(text: string, from: number, end: number): boolean {
  let found = false
  for (let at = contentFrom(text, from, end); at < end; at = contentFrom(text, endOfLine(text, at), end)) {
    if (text[at] !== '%' || (at > 0 && text[at - 1] !== '\n')) return false
    found = true
  }
  return found
}

/** Offsets of marker lines in order; the length of the text when there is none. */
function markersOf(text: string): (from: number) => number {
  const next = { '\n---': -1, '\n...': -1 }
  const find = (marker: keyof typeof next, from: number): number => {
    if (from === 0 && isMarker(text, 0) && text[0] === marker[1]) return 0
    if (next[marker] >= from) return next[marker]
    let at = text.indexOf(marker, Math.max(from - 1, 0))
    while (at !== -1 && !isMarker(text, at + 1)) at = text.indexOf(marker, at + 1)
    next[marker] = at === -1 ? text.length : at + 1
    return next[marker]
  }
  return from => Math.min(find('\n---', from), find('\n...', from))
}

function isMarker(text: string, at: number): boolean {
  const marker = text.slice(at, at + 3)
  return (marker === '---' || marker === '...') && ' \t\r\n'.includes(text[at + 3] ?? '\n')
}

/** Behind the line feed. */
function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at === -1 ? text.length : at + 1
}
