// Beside ansible, which takes a large part of a second for each file: few files and few rounds, ours with the same ones.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Series } from '../lib/rounds.ts'
import { makeData } from './data.ts'
import { seriesOf, steps } from './names.ts'
import type { Programs } from './programs.ts'

export interface AnsibleOptions {
  readonly files: number
  readonly rounds: number
  readonly directory: string
}

export function ansibleSeries(
  cairn: Programs['cairn'],
  ansibleAt: NonNullable<Programs['ansible']>,
  { files, rounds, directory }: AnsibleOptions,
): Series {
  mkdirSync(directory, { recursive: true })
  const data = makeData(directory, { files })
  const machine = cairn(join(directory, 'machine'))
  const ansible = ansibleAt(join(directory, 'ansible'), data)
  ansible.begin()
  return {
    name: seriesOf.ansible(files),
    files,
    rounds,
    warmUp: false,
    steps: [
      {
        name: steps.applyCold,
        once: true,
        contenders: [machine.apply(data.config), ansible.links(), ansible.copy()],
      },
      { name: steps.farmAgain, contenders: [machine.apply(data.config), ansible.links(), ansible.copy()] },
      { name: steps.status, contenders: [machine.status(), ansible.copyCheck()] },
    ],
  }
}
