// file: a file or a directory of this machine. What it contains is the identity, so it is read on every run; the copy has to
// hash to the same, or it was changed in between.
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkFault } from '../../lib/archive/links.ts'
import type { Checksum } from '../../lib/checksum.ts'
import { CairnError, isErrno, messageOf, ProblemsError } from '../../lib/errors.ts'
import type { Files } from '../../lib/files.ts'
import { readChunks } from '../../lib/read-chunks.ts'
import { byName, type Sha256 } from '../names.ts'
import { copyFile } from './copy-file.ts'
import {
  checksumMismatch,
  fieldUnused,
  sourceChanged,
  sourceLinkEscape,
  sourceNameInvalid,
  sourceNotFound,
  sourceSpecialFile,
  sourceUnreadable,
  uriInvalid,
} from './problems.ts'
import { recordedStates } from './record.ts'
import { copySealed } from './seal.ts'
import type { MadeSource, SourceFields } from './source.ts'
import { hashTree } from './tree.ts'

export function fileSource(fields: SourceFields): MadeSource | null {
  const { files, source, declaredAt, problems } = fields
  if (source.uri === undefined) return null
  try {
    const path = realpathSync.native(pathOf(fields, source.uri))
    const stats = files.lstat(path)
    if (stats?.isDirectory()) return directorySource(fields, path)
    if (stats?.isFile()) return singleFileSource(fields, path)
    problems.push(sourceSpecialFile(declaredAt, source.uri))
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) problems.push(sourceNotFound(declaredAt, source.uri))
    else if (isErrno(error, 'ERR_INVALID_FILE_URL_PATH', 'ERR_INVALID_FILE_URL_HOST', 'ERR_INVALID_URL_SCHEME'))
      problems.push(uriInvalid(declaredAt, 'file', messageOf(error)))
    else if (isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP', 'ENAMETOOLONG'))
      problems.push(sourceUnreadable(declaredAt, messageOf(error)))
    else if (error instanceof CairnError && error.code === 'tree.changed') problems.push(sourceChanged(declaredAt))
    else throw error
  }
  return null
}

const pathOf = ({ baseDirectory }: SourceFields, uri: string): string =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(uri) ? fileURLToPath(uri) : resolve(baseDirectory, uri)

function directorySource(fields: SourceFields, from: string): MadeSource {
  const { files, source, declaredAt, problems, warnings } = fields
  for (const field of ['path', 'mode', 'checksum'] as const)
    if (source[field] !== undefined) warnings.push(fieldUnused(declaredAt, 'file (a directory)', field))

  const links = new Map<string, string>()
  const { contentSha256 } = hashTree(files, from, {
    link: (path, text) => links.set(path, text),
    special: path => problems.push(sourceSpecialFile(declaredAt, path)),
  })
  const tree = { textAt: (path: string) => links.get(path), allowAbsolute: source.allowAbsoluteLinks ?? false }
  for (const [path, text] of [...links].sort(([a], [b]) => byName(a, b))) {
    const fault = linkFault(path, text, tree)
    if (fault) problems.push(sourceLinkEscape(declaredAt, `${path} -> ${text}`, fault))
    if (text.includes('\ufffd')) problems.push(sourceNameInvalid(declaredAt, path))
  }
  return {
    inputs: { type: 'file', tree: contentSha256 },
    async build(directory, { files, layout }) {
      const sealed = copySealed(files, from, directory, recordedStates(files, layout))
      if (sealed.contentSha256 !== contentSha256) throw new ProblemsError([sourceChanged(declaredAt)])
      return { sealed }
    },
  }
}

function singleFileSource(fields: SourceFields, from: string): MadeSource {
  const { files, source, path, mode, checksum, declaredAt, problems } = fields
  const sha256 = hashFile(files, from, 'sha256') as Sha256
  if (checksum) {
    const got = hashFile(files, from, checksum.algorithm)
    if (!checksum.digests.includes(got)) problems.push(checksumMismatch(declaredAt, source.uri ?? '', checksum, got))
  }
  return {
    inputs: { type: 'file', sha256, path, mode },
    async build(directory, context) {
      const copied = copyFile(context.files, from, { directory, path, mode })
      if (copied !== sha256) throw new ProblemsError([sourceChanged(declaredAt)])
      return { sourceSha256: sha256 }
    },
  }
}

function hashFile(files: Files, path: string, algorithm: Checksum['algorithm']): string {
  const hash = createHash(algorithm)
  for (const chunk of readChunks(files, path)) hash.update(chunk)
  return hash.digest('hex')
}
