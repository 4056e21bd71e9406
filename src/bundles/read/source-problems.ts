// What can be wrong with a file before anything in it is read.
import type { Problem } from '../../lib/problem.ts'
import { printSize } from '../../lib/size.ts'

export const missing = (name: string): Problem => ({
  code: 'source.missing',
  path: '',
  reason: `there is no file "${name}"`,
})

export const unreadable = (name: string, why: string): Problem => ({
  code: 'source.unreadable',
  path: '',
  reason: `"${name}" cannot be read: ${why}`,
})

export const notRegular = (name: string): Problem => ({
  code: 'source.not-regular',
  path: '',
  reason: `"${name}" is neither a file nor a directory`,
  hint: 'Standard input is read with -f -',
})

export const symlinkOut = (name: string, directory: string): Problem => ({
  code: 'source.symlink-out',
  path: '',
  reason: `"${name}" links to something outside of "${directory}"`,
  hint: 'Name the file itself with -f.',
})

export const tooLarge = (name: string, limit: number): Problem => ({
  code: 'source.too-large',
  path: '',
  reason: `"${name}" is larger than ${printSize(limit)}`,
})

export const binary = (name: string): Problem => ({
  code: 'source.binary',
  path: '',
  reason: `"${name}" is not a text file`,
  hint: 'Bundles are YAML, JSON or Jsonnet in UTF-8.',
})

export const empty = (name: string): Problem => ({
  code: 'source.empty',
  path: '',
  reason: `"${name}" is empty`,
})

export const noBundles = (directory: string, recurse: boolean): Problem => ({
  code: 'source.no-bundles',
  path: '',
  reason: `"${directory}" holds no file that ends in .yaml, .yml, .json or .jsonnet`,
  ...(!recurse && { hint: 'Its own directories are read with -R.' }),
})

export const tooManyFiles = (limit: number): Problem => ({
  code: 'limit.files',
  path: '',
  reason: `more than ${limit} files`,
})

export const tooMuch = (limit: number): Problem => ({
  code: 'limit.request-bytes',
  path: '',
  reason: `all files together are larger than ${printSize(limit)}`,
})
