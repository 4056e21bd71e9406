// Finds out once which walls this system lets us build, by trying each.
import { findProgram, run } from '../../lib/run.ts'
import type { Layers } from './plan-command.ts'

export async function findLayers(): Promise<Layers> {
  const [netns, setpriv, downloader] = await Promise.all([
    firstThatRuns(findProgram('unshare'), [['--net'], ['--user', '--map-current-user', '--net']]),
    firstThatRuns(findProgram('setpriv'), [['--no-new-privs', '--pdeathsig', 'KILL'], ['--no-new-privs']]),
    findDownloaderUser(),
  ])
  return { netns, setpriv, downloader: setpriv && downloader }
}

async function firstThatRuns(program: string | null, forms: readonly string[][]): Promise<readonly string[] | null> {
  const nothing = findProgram('true')
  if (!program || !nothing) return null
  for (const form of forms) if ((await run(program, [...form, nothing])).code === 0) return [program, ...form]
  return null
}

async function findDownloaderUser(): Promise<Layers['downloader']> {
  const getent = findProgram('getent')
  if (process.getuid?.() !== 0 || !getent) return null
  const { code, stdout } = await run(getent, ['passwd', 'cairn-downloader'])
  const [, , uid, gid] = stdout.split(':')
  return code === 0 ? { uid: Number(uid), gid: Number(gid) } : null
}
