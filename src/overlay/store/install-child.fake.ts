// A process that installs the same packages as its siblings, as soon as it is told to: `install-child <root> <archive url>`.
import { fakeDoor } from '../../content/door.fake.ts'
import { realFiles } from '../../lib/files.ts'
import { silentProgress } from '../../lib/progress.ts'
import { layoutOf } from '../layout.ts'
import { installAll } from './install.ts'
import type { Package } from './package.ts'
import { sourcePackage } from './source.ts'

const [root = '', uri = ''] = process.argv.slice(2)

const packageNumber = (version: number): Package => {
  const { package: made } = sourcePackage({
    files: realFiles,
    name: 'tool',
    config: { version: String(version), source: { type: 'url+tar', uri } },
    declaredAt: 'packageByNames.tool',
    baseDirectory: root,
    requireChecksums: false,
  })
  if (!made) throw new Error('the source is not right')
  return made
}

process.once('message', async () => {
  const store = {
    files: realFiles,
    layout: layoutOf({ root }),
    content: fakeDoor(),
    progress: silentProgress,
    signal: new AbortController().signal,
    protect: async () => {},
    warn: () => {},
  }
  try {
    const installed = await installAll(store, [1, 2, 3, 4, 5].map(packageNumber), { concurrency: 2 })
    process.send?.({ states: installed.map(({ state }) => state) })
  } catch (error) {
    process.send?.({ failed: String(error) })
  } finally {
    process.disconnect?.()
  }
})
process.send?.('ready')
