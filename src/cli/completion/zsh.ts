// Works when sourced and when autoloaded as _cairn from fpath; shows what each word and option is for.
import { type Spot, type SpotOption, valueOptions } from './spots.ts'

export function zshScript(spots: readonly Spot[]): string {
  const taking = [...valueOptions(spots)]
  const named = (kind: string) => taking.filter(([, completes]) => completes === kind).map(([name]) => name)
  return `#compdef cairn
# zsh completion for cairn; made by: cairn completion zsh
_cairn() {
  local at= word i
  local -a next options
  case $words[CURRENT-1] in
    (${pattern(named('file'))}) _files; return ;;
    (${pattern(named('directory'))}) _files -/; return ;;
    (${pattern(named('nothing'))}) _message value; return ;;
  esac
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    case $word in
      (${pattern(taking.map(([name]) => name))}) ((i++)) ;;
      (-*) ;;
      (*) case "\${at:+$at }$word" in (${pattern(placesOf(spots))}) at="\${at:+$at }$word" ;; esac ;;
    esac
  done
  case $at in
${spots.map(spotLine).join('\n')}
  esac
  if [[ $words[CURRENT] == -* || \${#next} -eq 0 ]]; then
    _describe -o option options
  else
    _describe command next
  fi
}
if [[ \${funcstack[1]-} == _cairn ]]; then _cairn "$@"; else compdef _cairn cairn; fi
`
}

function spotLine({ at, words, options }: Spot): string {
  const next = words.map(({ word, about }) => described(word, about)).join(' ')
  const flags = options.flatMap(option => spellings(option).map(name => described(name, option.about))).join(' ')
  return `    (${quoted(at)}) next=(${next}) options=(${flags}) ;;`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const described = (word: string, about: string) =>
  quoted(about ? `${word.replaceAll(':', '\\:')}:${about.replaceAll(':', '\\:')}` : word)
const pattern = (names: readonly string[]) => names.map(quoted).join('|')
const placesOf = (spots: readonly Spot[]) => spots.map(({ at }) => at).filter(at => at !== '')
const spellings = ({ short, long }: SpotOption) => (short ? [short, long] : [long])
