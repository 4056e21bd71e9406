import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { OverlayConfig } from '../resources/overlay-config.ts'
import { activate } from './activate.ts'
import { nowhere } from './destination.ts'
import { type FakeNode, fakeNode } from './node.fake.ts'
import { recover } from './recover.ts'
import { readStatus } from './status.ts'

let node: FakeNode
beforeEach(() => {
  node = fakeNode()
})
afterEach(() => node.remove())

const targets = ['app/file', 'app/link', 'app/directory', 'app/new']
const config: OverlayConfig = {
  version: 'v1',
  packageByNames: {
    app: {
      version: '1',
      source: { type: 'inline', content: 'ours', path: 'conf' },
      etcFiles: targets.map(target => ({ source: 'conf', target, replaceExisting: true })),
    },
  },
  systemdUnitsByName: {
    app: { version: '1', templateInline: '[Service]\nExecStart=/bin/app\n[Install]\nWantedBy=multi-user.target\n' },
  },
}
const etc = (path: string) => join(node.root, 'etc', path)
const manifest = () => join(node.context.layout.generations, '1/manifest.json')

it.each([
  ['torn', () => writeFileSync(manifest(), '{"schema": 1')],
  ['lost', () => rmSync(manifest())],
])(
  'a %s manifest is made again: nothing is to do then, and uninstall gives back what was taken over',
  async (_, damage) => {
    mkdirSync(etc('app/directory'), { recursive: true })
    writeFileSync(etc('app/directory/mine'), 'mine')
    writeFileSync(etc('app/file'), 'mine')
    symlinkSync('mine', etc('app/link'))
    await node.apply(config)
    damage()

    const { notes } = await recover(node.context)
    expect(notes).toEqual(['the manifest of generation 1 could not be read and was made again'])
    expect((await recover(node.context)).notes).toEqual([])
    expect(await readStatus(node.context, { scan: true })).toMatchObject({
      generation: 1,
      version: 'v1',
      drift: [],
      stray: [],
    })
    expect(await node.apply(config)).toMatchObject({ outcome: 'nothing to do', generation: 1 })

    await activate(node.context, { intent: 'uninstall', destination: () => nowhere })
    expect(readdirSync(etc('app')).sort()).toEqual(['directory', 'file', 'link'])
    expect(readFileSync(etc('app/directory/mine'), 'utf8')).toBe('mine')
    expect(readFileSync(etc('app/file'), 'utf8')).toBe('mine')
  },
)

it('a manifest is not made again where the etc state is lost too', async () => {
  await node.apply(config)
  writeFileSync(manifest(), '{')
  rmSync(join(node.context.layout.generations, '1/etc'))
  await expect(recover(node.context)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(readFileSync(manifest(), 'utf8')).toBe('{')
})
