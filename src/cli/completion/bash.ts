// The script defines one function that readline calls; it walks the words before the cursor to find the command.
import { type Spot, type SpotOption, valueOptions } from './spots.ts'

export function bashScript(spots: readonly Spot[]): string {
  const taking = [...valueOptions(spots)]
  const named = (kind: string) => taking.filter(([, completes]) => completes === kind).map(([name]) => name)
  return `# bash completion for cairn; made by: cairn completion bash
_cairn() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at= words= options= word i
  COMPREPLY=()
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $prev in
    ${pattern(named('file'))}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    ${pattern(named('directory'))}) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    ${pattern(named('nothing'))}) return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      ${pattern(taking.map(([name]) => name))}) ((i++)) ;;
      -*) ;;
      *) case "\${at:+$at }$word" in ${pattern(placesOf(spots))}) at="\${at:+$at }$word" ;; esac ;;
    esac
  done
  case $at in
${spots.map(spot => `    ${quoted(spot.at)}) words=${quoted(spot.words.map(({ word }) => word).join(' '))} options=${quoted(spot.options.flatMap(spellings).join(' '))} ;;`).join('\n')}
  esac
  if [[ $cur == -* || -z $words ]]; then words=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _cairn cairn
`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const pattern = (names: readonly string[]) => names.map(quoted).join('|')
const placesOf = (spots: readonly Spot[]) => spots.map(({ at }) => at).filter(at => at !== '')
const spellings = ({ short, long }: SpotOption) => (short ? [short, long] : [long])
