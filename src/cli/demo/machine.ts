// One machine of the demo: a directory with a runner that other terminals reach as well, brought up like any machine, by
// the functions behind `cairn node prepare`, `apply` and `status`.
import { join } from 'node:path'
import { applyNode, prepareNode, statusOf } from '../../overlay/node.ts'
import type { ApplyReport } from '../../overlay/report.ts'
import { openRunner } from '../../overlay/systemd/runner/runner.ts'
import { serveRunner } from '../../overlay/systemd/runner/server.ts'
import type { DemoMachine } from './homelab.ts'

export interface RunningMachine {
  readonly name: string
  readonly root: string
  prepare(): Promise<PreparedView>
  activate(): Promise<ActivatedView>
  end(): Promise<void>
}

export interface PreparedView {
  readonly packages: number
  readonly bytes: number
}

export interface ActivatedView extends Pick<ApplyReport, 'outcome' | 'generation' | 'failed' | 'seconds'> {
  readonly healthy: boolean
  readonly units: readonly { readonly name: string; readonly active: string; readonly sub: string }[]
}

export async function startMachine({ name, file, text }: DemoMachine, directory: string): Promise<RunningMachine> {
  const root = join(directory, name)
  const runner = await openRunner({ root })
  const server = await serveRunner(runner, { root })
  const options = { root, command: 'cairn demo' }
  return {
    name,
    root,
    prepare: async () => {
      const { packages } = await prepareNode({ file, text }, options)
      return { packages: packages.length, bytes: packages.reduce((sum, { size }) => sum + size, 0) }
    },
    activate: async () => {
      const { outcome, generation, failed, seconds } = await applyNode({ file, text }, options)
      const { units } = await statusOf(options)
      return { outcome, generation, failed, seconds, healthy: outcome === 'applied', units }
    },
    end: async () => {
      await server.close()
      await runner.end()
    },
  }
}
