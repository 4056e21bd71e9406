// Which encoding a source has: stated > extension > content type > first character > YAML.
import type { Source } from '../model/source.ts'
import type { Decoder } from './decoder.ts'
import { jsonDecoder } from './json.ts'
import { yamlDecoder } from './yaml.ts'

/** Evaluated where the files are, never here. */
const jsonnetDecoder: Decoder = {
  name: 'jsonnet',
  extensions: ['.jsonnet'],
  contentTypes: ['application/jsonnet', 'application/x-jsonnet', 'text/jsonnet', 'text/x-jsonnet'],
  sniff: () => false,
  *decode({ placeOf }) {
    const source = placeOf(0)
    yield {
      is: 'unreadable',
      problems: [
        {
          code: 'jsonnet.not-evaluated',
          path: '',
          reason: 'Jsonnet is evaluated by the command line, before the bundle is sent',
          hint: 'Give the file with -f, or send the JSON that it evaluates to.',
          ...(source && { source }),
        },
      ],
    }
  },
}

const decoders: readonly Decoder[] = [yamlDecoder, jsonDecoder, jsonnetDecoder]

/** What a directory is searched for. */
export const hasKnownExtension = (name: string): boolean =>
  decoders.some(({ extensions }) => extensions.includes(extensionOf(name)))

export function decoderOf(source: Omit<Source, 'content'>, text: string): Decoder {
  const extension = extensionOf(source.name)
  const contentType = source.contentType?.replace(/;.*/s, '').trim().toLowerCase()
  const first = /\S/.exec(text)?.[0] ?? ''
  return (
    decoders.find(({ name }) => name === source.encoding) ??
    decoders.find(({ extensions }) => extensions.includes(extension)) ??
    decoders.find(({ contentTypes }) => contentType !== undefined && contentTypes.includes(contentType)) ??
    decoders.find(({ sniff }) => sniff(first)) ??
    yamlDecoder
  )
}

/** Of a path or of a URL, whose query does not count. */
function extensionOf(name: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\//i.test(name) ? (URL.parse(name)?.pathname ?? '') : name
  return (/[^/](\.[^./]+)$/.exec(path)?.[1] ?? '').toLowerCase()
}
