import { expect, it } from 'vitest'
import type { Mount } from '../process/calls.ts'
import { planMount } from './plan-mount.ts'

const snapshots = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots'

it('mounts what the runtime asks for', () => {
  const overlay = {
    type: 'overlay',
    source: 'overlay',
    options: [
      'index=off',
      `workdir=${snapshots}/3/work`,
      `upperdir=${snapshots}/3/fs`,
      `lowerdir=${snapshots}/2/fs:${snapshots}/1/fs`,
    ],
  }
  expect(planMount(overlay)).toEqual({
    directory: snapshots,
    args: [
      '--no-mtab',
      '--no-canonicalize',
      '--options',
      'index=off,workdir=3/work,upperdir=3/fs,lowerdir=2/fs:1/fs',
      '--types',
      'overlay',
      'overlay',
    ],
  })
  const bind = { type: 'bind', source: `${snapshots}/1/fs`, options: ['rw', 'rbind'] }
  const args = ['--no-mtab', '--no-canonicalize', '--options', 'rw,rbind', `${snapshots}/1/fs`]
  expect(planMount(bind)).toEqual({ directory: null, args })
})

it('tells five hundred layers within what the kernel takes', () => {
  const layers = Array.from({ length: 500 }, (_, at) => `${snapshots}/${at + 1}/fs`)
  const options = [`workdir=${snapshots}/501/work`, `upperdir=${snapshots}/501/fs`, `lowerdir=${layers.join(':')}`]
  const { args } = planMount({ type: 'overlay', source: 'overlay', options })
  expect(args[3]!.length).toBeLessThan(4096)
})

it('tells layers of two snapshotters with their whole paths', () => {
  const options = [`lowerdir=${snapshots}/2/fs:/other${snapshots}/1/fs`]
  const { args, directory } = planMount({ type: 'overlay', source: 'overlay', options })
  expect({ options: args[3], directory }).toEqual({ options: options[0], directory: null })
})

const refused: Record<string, Mount> = {
  'another type': { type: 'proc', source: 'proc', options: [] },
  'a source elsewhere': { type: 'bind', source: '/etc', options: ['rbind'] },
  'a way out of the snapshots': { type: 'bind', source: `${snapshots}/../../../../../etc`, options: ['rbind'] },
  'a source that is an option': { type: 'bind', source: '--move', options: ['rbind'] },
  'a bind without bind': { type: 'bind', source: `${snapshots}/1/fs`, options: ['rw'] },
  'a lower directory elsewhere': { type: 'overlay', source: 'overlay', options: [`lowerdir=${snapshots}/1/fs:/root`] },
  'two options in one': { type: 'overlay', source: 'overlay', options: [`upperdir=${snapshots}/1,lowerdir=/root`] },
  'another option': { type: 'bind', source: `${snapshots}/1/fs`, options: ['rbind', 'move'] },
}
for (const [title, mount] of Object.entries(refused))
  it(`refuses ${title}`, () => {
    expect(() => planMount(mount)).toThrow(expect.objectContaining({ code: 'call.refused' }))
  })
