// What all `cairn node` commands share: where the machine is, and what the overlay needs to know of the caller.
import { isAbsolute, resolve } from 'node:path'
import type { NodeOptions } from '../overlay/node.ts'
import type { Session } from './command.ts'
import { flag, list, required, text, type Values } from './parameter.ts'
import { UsageError } from './usage.ts'

export const thisMachine = 'This machine'

export const nodeOptions = {
  root: text('--root DIR', 'work below DIR instead of /: no root needed, units are linked, not started', 'directory'),
  store: text('--store PATH', 'where packages and generations are kept; default /cairn', 'directory'),
}

export const configOptions = {
  file: required(text('-f, --file FILE', 'the OverlayConfig, as JSON; - reads standard input', 'file')),
  requireChecksums: flag('--require-checksums', 'refuse sources without a checksum'),
}

export const overwriteDrift = list(
  text('--overwrite-drift TARGET', 'replace this file below /etc although it was edited; may be given again'),
)

export const noSystemd = flag('--no-systemd', 'change /etc only, leave units alone: for image builds and chroots')

export const dedup = flag('--dedup', 'link equal files of the store to one another')

type Where = Values<typeof nodeOptions>

export function nodeOptionsOf({ root, store }: Where, { argv, progress }: Session): NodeOptions {
  if (store !== undefined && !isAbsolute(store))
    throw new UsageError('usage.bad-value', `--store: "${store}" is not an absolute path`, {
      hint: 'The store is the path that the machine sees; use --root to put it elsewhere.',
    })
  return {
    ...(root === undefined ? {} : { root: resolve(root) }),
    ...(store === undefined ? {} : { store }),
    progress,
    command: ['cairn', ...argv].join(' '),
  }
}

/** The options that make a suggested command mean the same machine. */
export function whereOf({ root, store }: Where): string {
  const given = [root === undefined ? [] : ['--root', root], store === undefined ? [] : ['--store', store]].flat()
  return given.map(word => ` ${quoted(word)}`).join('')
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
