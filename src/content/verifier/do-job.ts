// Does one job for one blob and tells which files it has then. The names it leaves in verified/ are those it tells of.
import { join } from 'node:path'
import { removeIfThere } from '../../lib/durable.ts'
import { messageOf, unreachable } from '../../lib/errors.ts'
import type { Sha256 } from '../messages.ts'
import { checkDocument } from './check-document.ts'
import { checkFile } from './check-file.ts'
import { nameFits, verifiedNameOf } from './names.ts'
import type { Job } from './plan-verify.ts'
import { mediaTypeTooLong, type Setback, systemSetback } from './setback.ts'
import type { Watch } from './tools.ts'
import type { VerifiedFile } from './verified-file.ts'
import { type VerifyTools, verifyFile } from './verify-file.ts'

export interface BlobFiles {
  readonly files: readonly VerifiedFile[]
  readonly unchecked: readonly VerifiedFile[]
}

export interface JobOutcome extends BlobFiles {
  readonly setback?: Setback | undefined
}

export interface JobOrder extends Watch {
  readonly sha256: Sha256
  readonly job: Job
  readonly have: BlobFiles
}

/** Throws the reason of the signal, and what the system said about a label. */
export async function doJob(tools: VerifyTools, order: JobOrder): Promise<JobOutcome> {
  const { job, sha256, have } = order
  switch (job.do) {
    case 'copy': {
      const outcome = await verifyFile(tools, { ...job, sha256 }, order)
      return 'file' in outcome ? withFile(have, outcome.file) : { ...have, setback: outcome.setback }
    }
    case 'check':
      return checkAll(tools, order)
    case 'label':
      return label(tools, order, job.mediaType)
    default:
      return unreachable(job)
  }
}

const withFile = ({ files, unchecked }: BlobFiles, file: VerifiedFile): BlobFiles => ({
  files: [...files, file],
  unchecked: unchecked.filter(({ path }) => path !== file.path),
})

/** A file that cannot be looked at now stays what it was. */
async function checkAll(tools: VerifyTools, order: JobOrder): Promise<JobOutcome> {
  const files: VerifiedFile[] = []
  const unchecked: VerifiedFile[] = []
  let setback: Setback | undefined
  for (const [from, kept] of [[order.have.files, files] as const, [order.have.unchecked, unchecked] as const])
    for (const file of from) {
      try {
        const found = await checkFile(tools, { path: file.path, sha256: order.sha256 }, order)
        if ('mark' in found) files.push({ ...file, ...found })
        else {
          setback = found.rot
          discard(tools, file.path)
        }
      } catch (error) {
        order.signal.throwIfAborted()
        setback ??= systemSetback(error)
        kept.push(file)
      }
    }
  return { files, unchecked, setback }
}

/** Whether it goes or not, it is not handed out any more. */
function discard({ files, log }: VerifyTools, path: string) {
  try {
    removeIfThere(files, path)
  } catch (error) {
    log(`verifier: the bad file ${path} cannot be removed: ${messageOf(error)}`)
  }
}

/** A second name and not another one: who was given the first path goes on using it. */
async function label(tools: VerifyTools, { sha256, have }: JobOrder, mediaType: string): Promise<JobOutcome> {
  const { files, layout, durability } = tools
  const from = have.files[0]!
  const setback = nameFits(mediaType)
    ? checkDocument(files, from.path, { sha256, mediaType })
    : mediaTypeTooLong(mediaType)
  if (setback) return { ...have, setback }
  const path = join(layout.verified, verifiedNameOf({ sha256, mediaType }))
  removeIfThere(files, path)
  files.link(from.path, path)
  await durability.sync(layout.verified, [])
  return withFile(have, { ...from, path, mediaType })
}
