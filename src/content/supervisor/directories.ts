// Makes the directories of the content room with the owners and modes that keep its processes apart. One that is there
// already stays as it is, but for the owner of what the downloader writes.
import { join } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import type { Files } from '../../lib/files.ts'
import type { ContentLayout } from '../layout.ts'
import type { Layers } from './plan-command.ts'

/** Verified files and certificates are no secret; whoever runs a volume has to get to it by its path. */
const modes = {
  pending: 0o700,
  verifier: 0o700,
  verified: 0o755,
  quarantine: 0o700,
  certs: 0o755,
  trust: 0o755,
  manager: 0o700,
  volumes: 0o711,
  requests: 0o700,
  run: 0o755,
} as const satisfies Record<keyof ContentLayout, number>

export function makeContentDirectories(files: Files, layout: ContentLayout, downloader: Layers['downloader']) {
  for (const name of Object.keys(modes) as (keyof ContentLayout)[]) makeOne(files, layout[name], modes[name])
  if (downloader && files.lstat(layout.pending)?.uid !== downloader.uid) giveAway(files, layout.pending, downloader)
}

/** With what is in it: the downloader goes on with it, and the verifier reads only what is the downloader's. */
function giveAway(files: Files, directory: string, { uid, gid }: NonNullable<Layers['downloader']>) {
  for (const name of files.readdir(directory)) files.lchown(join(directory, name), uid, gid)
  files.lchown(directory, uid, gid)
}

/** The mode is meant as it stands, whatever the umask takes away. */
export function makeOne(files: Files, path: string, mode: number) {
  const made = makeDirectories(files, path)
  if (made.includes(path)) files.chmod(path, mode)
}
