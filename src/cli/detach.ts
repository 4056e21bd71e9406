// --detach: the same command line, without that word, in a transient systemd unit that outlives terminal and session.
import { randomBytes } from 'node:crypto'
import { CairnError } from '../lib/errors.ts'
import { findProgram, run } from '../lib/run.ts'
import { UsageError } from './usage.ts'

export async function detach(argv: readonly string[], file: string): Promise<{ unit: string }> {
  if (file === '-')
    throw new UsageError('usage.bad-value', '--detach cannot read standard input', { hint: 'Give -f a file.' })
  const program = findProgram('systemd-run')
  if (!program)
    throw new CairnError('systemd.unavailable', 'systemd-run is not here, so nothing can run detached', {
      hint: 'Run it without --detach.',
    })
  const unit = `cairn-apply-${randomBytes(4).toString('hex')}.service`
  const { code, stderr } = await run(program, detachedArguments({ argv, unit, cwd: process.cwd(), self: self() }))
  if (code === 0) return { unit }
  throw new CairnError('detach.failed', `systemd-run did not start ${unit}: ${stderr.trim()}`, {
    hint: 'Run it without --detach, or as root.',
  })
}

export function detachedArguments(call: {
  readonly argv: readonly string[]
  readonly unit: string
  readonly cwd: string
  readonly self: readonly string[]
}): string[] {
  const { argv, unit, cwd, self } = call
  return [
    '--quiet',
    '--collect',
    '--no-ask-password',
    `--unit=${unit}`,
    `--working-directory=${cwd}`,
    '--description=Cairn: apply an overlay config',
    '--',
    ...self,
    ...argv.filter(word => word !== '--detach'),
  ]
}

const self = (): string[] => [process.execPath, ...process.execArgv, process.argv[1] ?? '']
