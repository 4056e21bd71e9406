import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { faultyFiles } from '../../../lib/files.fake.ts'
import { realFiles } from '../../../lib/files.ts'
import { runtimeContext } from '../context.fake.ts'
import { writeImage } from '../images.fake.ts'
import { runtimeSuite } from '../runtime.suite.ts'
import { imageName } from '../runtime.ts'
import { directoryRuntime } from './directory-runtime.ts'

runtimeSuite('directory', async () => {
  const context = runtimeContext()
  return { context, runtime: directoryRuntime(context) }
})

it('leaves nothing when the disk is full at any step, and makes the volume when there is room again', async () => {
  const context = runtimeContext()
  const signal = new AbortController().signal
  const { content } = writeImage(context.layout.verified, {
    layers: [
      {
        tar: [
          { name: 'd/', kind: 'directory' },
          { name: 'd/a', content: 'a' },
          { name: 'l', kind: 'symlink', link: 'd' },
        ],
      },
      { tar: [{ name: 'd/.wh.a' }, { name: 'd/b', content: 'b' }, { name: 'h', kind: 'hardlink', link: 'd/b' }] },
    ],
  })
  const image = imageName(content)
  const target = join(context.layout.volumes, 'web+app#1')
  await directoryRuntime(context).load({ name: image, content, signal })
  let steps = 0
  for (;;) {
    const files = faultyFiles(realFiles, { failAt: steps + 1, code: 'ENOSPC' })
    const made = directoryRuntime({ ...context, files }).makeRootfs({ target, image, content, signal })
    if (await made.then(Boolean, error => error.code !== 'content.no-space')) break
    expect(readdirSync(context.layout.volumes)).toEqual([])
    steps++
  }
  expect(steps).toBeGreaterThan(15)
  expect(readdirSync(join(target, 'rootfs')).sort()).toEqual(['d', 'h', 'l'])
  context.dispose()
})
