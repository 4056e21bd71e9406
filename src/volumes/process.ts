// What runs inside each of the walled-in processes. The supervisor starts Cairn again with one of these names; each loads
// only its own room.
import { runProcess } from '../content/process/run-process.ts'

export async function runContentProcess(name: string): Promise<void> {
  switch (name) {
    case 'downloader':
      return runProcess(name, async context => {
        const [{ startDownloader }, { createOrigins }] = await Promise.all([
          import('../content/downloader/downloader.ts'),
          import('../content/downloader/origins/origins.ts'),
        ])
        await startDownloader(context, createOrigins({ ...context, proxyEnv: process.env }))
      })
    case 'verifier':
      return runProcess(name, async context => {
        const [{ startVerifier }, { judgeSignature }] = await Promise.all([
          import('../content/verifier/verifier.ts'),
          import('../content/signature/judge.ts'),
        ])
        await startVerifier(context, judgeSignature, { downloaderUid: context.downloaderUid })
      })
    case 'manager':
      return runProcess(name, async context => {
        const [{ startManager }, { managerParts }] = await Promise.all([
          import('./manager/manager.ts'),
          import('./manager/parts.ts'),
        ])
        await startManager(context, managerParts(context))
      })
    default:
      throw new Error(`there is no process ${name}`)
  }
}
