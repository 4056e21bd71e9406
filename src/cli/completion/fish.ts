// One line for each word and option, offered where the words before the cursor lead to its command.
import { type Spot, type SpotOption, valueOptions } from './spots.ts'

export function fishScript(spots: readonly Spot[]): string {
  const taking = [...valueOptions(spots).keys()]
  const places = spots.map(({ at }) => at).filter(at => at !== '')
  return `# fish completion for cairn; made by: cairn completion fish
function __cairn_at
  set -l at ''
  set -l skip no
  for word in (commandline -opc)[2..-1]
    if test $skip = yes
      set skip no
    else if contains -- $word ${taking.map(quoted).join(' ')}
      set skip yes
    else
      set -l longer (string trim -- "$at $word")
      contains -- $longer ${places.map(quoted).join(' ')}; and set at $longer
    end
  end
  test "$at" = "$argv[1]"
end
complete -c cairn -f
${spots.flatMap(linesOf).join('\n')}
`
}

function linesOf({ at, words, options }: Spot): string[] {
  const here = `complete -c cairn -n ${quoted(`__cairn_at ${quoted(at)}`)}`
  return [
    ...words.map(({ word, about }) => `${here} -a ${quoted(word)}${about ? ` -d ${quoted(about)}` : ''}`),
    ...options.map(option => `${here} ${flagWords(option)} -d ${quoted(option.about)}`),
  ]
}

function flagWords({ short, long, metavar, completes }: SpotOption): string {
  const names = `${short ? `-s ${short.slice(1)} ` : ''}-l ${long.slice(2)}`
  if (!metavar) return names
  if (completes === 'file') return `${names} -r -F`
  return completes === 'directory' ? `${names} -x -a '(__fish_complete_directories)'` : `${names} -x`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
