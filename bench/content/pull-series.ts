// An image from a registry to verified files, beside those who copy images; then the same again with everything there.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeAll } from '../lib/remove.ts'
import { type Contender, present, type Series } from '../lib/rounds.ts'
import type { Tool } from '../lib/tool.ts'
import type { Machine } from './cairn.ts'
import type { ContainerdTool } from './containerd.ts'
import type { BenchImage } from './images.ts'
import { type Place, seriesOf, steps, who } from './names.ts'

export interface PullOptions {
  readonly image: BenchImage
  readonly place: Place
  readonly rounds: number
  readonly directory: string
  readonly machineAt: (name: string) => Machine
  readonly skopeo: Tool
  readonly containerd: ContainerdTool | null
}

export function pullSeries(options: PullOptions): Series {
  const { image, place, rounds, directory, machineAt, skopeo, containerd } = options
  mkdirSync(directory, { recursive: true })
  const oneShot = machineAt('one-shot')
  const daemon = machineAt('daemon')
  const layout = join(directory, 'layout')
  const pull = (name: string, machine: Machine) => machine.command(name, 'content', 'pull', image.reference)
  const copy: Contender | undefined =
    skopeo.path === null
      ? undefined
      : {
          name: who.skopeo,
          program: skopeo.path,
          args: ['copy', '--quiet', '--src-tls-verify=false', `docker://${image.reference}`, `oci:${layout}:1`],
        }
  // Each step has commands of its own: a result belongs to the command.
  const contenders = () =>
    present(
      pull(who.oneShot, oneShot),
      pull(who.daemon, daemon),
      copy && { ...copy },
      containerd?.command(who.ctr, 'content', 'fetch', '--plain-http', image.reference),
    )
  return {
    name: seriesOf.pull(image.title, place),
    files: image.files,
    rounds,
    warmUp: false,
    begin() {
      oneShot.begin()
      daemon.begin()
      daemon.startDaemon()
      removeAll(layout)
      containerd?.forget()
    },
    steps: [
      { name: steps.cold, contenders: contenders() },
      { name: steps.again, contenders: contenders(), after: () => daemon.stopDaemon() },
    ],
  }
}
