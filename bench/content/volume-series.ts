// An image as the root of a container: through containerd from nothing, and unpacked by ourselves from what is verified.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runUnmeasured } from '../lib/command.ts'
import { removeAll } from '../lib/remove.ts'
import { present, type Series } from '../lib/rounds.ts'
import type { Tool } from '../lib/tool.ts'
import type { Machine } from './cairn.ts'
import type { ContainerdTool } from './containerd.ts'
import type { BenchImage } from './images.ts'
import { seriesOf, steps, who } from './names.ts'

export interface VolumeOptions {
  readonly image: BenchImage
  readonly rounds: number
  readonly directory: string
  /** With a containerd of its own each, so that neither finds what the other left. */
  readonly machineAt: (name: string, socket?: string) => Machine
  readonly ours: ContainerdTool | null
  readonly theirs: ContainerdTool | null
  readonly skopeo: Tool
  readonly umoci: Tool
}

export function volumeSeries(options: VolumeOptions): Series {
  const { image, rounds, directory, machineAt, ours, theirs, skopeo, umoci } = options
  const { reference } = image
  const at = (name: string) => join(directory, name)
  mkdirSync(directory, { recursive: true })
  const unpacking = machineAt('unpacking')
  const loading = ours && machineAt('loading', ours.socket)
  const hasUmoci = umoci.path !== null && skopeo.path !== null
  const create = (machine: Machine) =>
    machine.command(who.volume, 'volume', 'create', 'app', '--kind', 'container', '--from', reference)
  if (hasUmoci)
    runUnmeasured({
      program: skopeo.path,
      args: ['copy', '--quiet', '--src-tls-verify=false', `docker://${reference}`, `oci:${at('layout')}:1`],
    })
  return {
    name: seriesOf.container(image.title),
    files: image.files,
    rounds,
    warmUp: false,
    begin() {
      removeVolume(loading)
      loading?.begin()
      ours?.forget()
      theirs?.forget()
      removeVolume(unpacking)
      unpacking.begin()
      runUnmeasured(unpacking.command('', 'content', 'pull', reference))
      removeAll(at('bundle'))
    },
    steps: [
      ...(loading
        ? [
            {
              name: steps.container,
              contenders: present(
                create(loading),
                theirs?.command(who.ctrPull, 'image', 'pull', '--plain-http', '--snapshotter', 'overlayfs', reference),
              ),
              after: () => removeVolume(loading),
            },
          ]
        : []),
      {
        name: steps.unpack,
        contenders: present(
          create(unpacking),
          hasUmoci
            ? {
                name: who.umoci,
                program: umoci.path,
                args: [
                  'unpack',
                  ...(process.getuid?.() === 0 ? [] : ['--rootless']),
                  '--image',
                  `${at('layout')}:1`,
                  at('bundle'),
                ],
              }
            : undefined,
        ),
        after: () => removeVolume(unpacking),
      },
    ],
  }
}

/** Before its machine goes: containerd may have it mounted. */
function removeVolume(machine: Machine | null) {
  if (!machine?.exists()) return
  const volumes = runUnmeasured(machine.command('', 'volume', 'list', '--json'))
  if (volumes.includes('"app"')) runUnmeasured(machine.command('', 'volume', 'rm', 'app', '--allow-data-loss'))
}
