// A command on a pseudo-terminal, with somebody who reads and answers: what is typed is typed only after the question stands there.
import { spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { until } from './server.ts'

export interface Answered {
  /** What the screen shows at the end, without colours. */
  readonly screen: string
  readonly code: number
}

export async function onTerminal(
  command: readonly string[],
  dialogue: readonly { readonly question: string; readonly type: string }[],
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Answered> {
  const line = command.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', SHELL: '/bin/sh', TERM: 'xterm', LC_ALL: 'C.UTF-8', ...env },
    cwd,
  })
  let shown = ''
  child.stdout.on('data', chunk => (shown += chunk))
  const closed = new Promise<number>(resolve => child.once('close', code => resolve(code ?? -1)))
  try {
    let from = 0
    for (const { question, type } of dialogue) {
      await until(
        `"${question}" is asked`,
        () => shown.includes(question, from) || child.exitCode !== null,
        () => shown,
      )
      from = shown.indexOf(question, from) + question.length
      child.stdin.write(type)
    }
    return { code: await closed, screen: stripVTControlCharacters(shown).replaceAll('\r', '') }
  } finally {
    child.kill('SIGKILL')
  }
}
