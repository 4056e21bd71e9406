import { answer, command } from '../command.ts'
import { choice, required } from '../parameter.ts'

export const completion = command({
  name: 'completion',
  group: 'Shell and reference',
  nature: 'question',
  summary: 'print the completion script of a shell',
  description: ['The script knows commands, options and choices, and completes file names where a file is wanted.'],
  args: { shell: required(choice('SHELL', 'which shell', ['bash', 'zsh', 'fish'])) },
  examples: [
    { line: 'source <(cairn completion bash)', about: 'in ~/.bashrc' },
    { line: 'cairn completion zsh > "$fpath[1]/_cairn"', about: 'once, for zsh' },
    { line: 'cairn completion fish > ~/.config/fish/completions/cairn.fish', about: 'once, for fish' },
  ],
  run: async ({ shell }, { catalogue }) => {
    const { completionScript } = await import('../completion/script.ts')
    const script = completionScript(shell, catalogue)
    return answer({ report: { shell, script }, print: found => found.script.trimEnd() })
  },
})
