// Signals need processes of their own: each test starts one that guards itself, and looks at how it ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { Nature } from './command.ts'

/** Sends the signal once the process says that it is ready; `go` on its standard input makes it end by itself. */
async function underSignal(nature: Nature, signal: NodeJS.Signals) {
  const script = `
    const { guardSignals } = await import(${JSON.stringify(new URL('./signals.ts', import.meta.url).href)})
    const screen = { write: text => process.stdout.write(text) }
    guardSignals(${JSON.stringify(nature)}, { screen, before: () => process.stdout.write('lines cleared. ') })
    process.stdin.once('data', () => process.exit(0))
    process.stdout.write('ready. ')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', chunk => {
    printed += chunk
    if (String(chunk).includes('ready')) {
      child.kill(signal)
      if (signal === 'SIGHUP') child.stdin.end('go\n')
    }
  })
  child.stdin.on('error', () => {})
  const [code, endedBy] = await once(child, 'close')
  return { code, endedBy, printed }
}

it('a lost terminal does not stop a change to the machine', async () => {
  expect(await underSignal('machine', 'SIGHUP')).toEqual({ code: 0, endedBy: null, printed: 'ready. ' })
})

it('a lost terminal ends a question', async () => {
  expect(await underSignal('question', 'SIGHUP')).toMatchObject({ endedBy: 'SIGHUP' })
})

it('Ctrl-C ends by that signal, with clean lines and a word on how an interrupted change goes on', async () => {
  const { endedBy, printed } = await underSignal('machine', 'SIGINT')
  expect(endedBy).toBe('SIGINT')
  expect(printed).toMatch(/^ready\. lines cleared\. Interrupted\. The next cairn node command/)
})

it('SIGTERM ends work on the store without such a word', async () => {
  expect(await underSignal('store', 'SIGTERM')).toEqual({
    code: null,
    endedBy: 'SIGTERM',
    printed: 'ready. lines cleared. ',
  })
})
