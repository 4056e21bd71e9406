// What all `cairn content` and `cairn volume` commands share: where the machine is, and what a request says about trust.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Trust } from '../content/messages.ts'
import type { ContentOptions } from '../content/node.ts'
import { messageOf, ProblemsError } from '../lib/errors.ts'
import type { Session } from './command.ts'
import { nodeOptions } from './node.ts'
import { choice, flag, list, text, type Values } from './parameter.ts'

export const contentGroup = 'Content and volumes'

export const contentOptions = {
  insecureNoIsolation: flag(
    '--insecure-no-isolation',
    'run even where nothing keeps the verifier from the network; every status says so',
  ),
  ...nodeOptions,
  root: text('--root DIR', 'work below DIR instead of /: no root needed', 'directory'),
}

export const trustOptions = {
  digest: text('--digest D', 'sha256 of the root: nothing else is accepted'),
  keys: list(text('--key FILE', 'a public key in PEM whose signature counts; may be given again', 'file')),
  signature: text('--signature FILE', 'a signature of the digest, in base64, that came by another way', 'file'),
  chain: text(
    '--chain FILE',
    'certificates of who signed, in PEM, the signer’s first; their root is in content/trust',
    'file',
  ),
  policy: choice('--policy POLICY', 'what a signature means; default none, with a key or a signature required', [
    'none',
    'optional',
    'required',
  ]),
}

export function contentOptionsOf(
  { root, store, insecureNoIsolation }: Values<typeof contentOptions>,
  { progress }: Session,
): ContentOptions {
  return {
    ...(root === undefined ? {} : { root: resolve(root) }),
    ...(store === undefined ? {} : { store }),
    ...(insecureNoIsolation === undefined ? {} : { insecureNoIsolation }),
    progress,
  }
}

/** Null when nothing was said about trust. */
export function trustOf({ keys = [], signature, chain, policy }: Values<typeof trustOptions>): Trust | null {
  if (keys.length === 0 && signature === undefined && chain === undefined && policy === undefined) return null
  return {
    policy: policy ?? 'required',
    keys: keys.map(file => textOf('--key', file)),
    certificates: [],
    ...(signature !== undefined && { signature: textOf('--signature', signature).trim() }),
    ...(chain !== undefined && { chain: certificatesIn(textOf('--chain', chain)) }),
  }
}

const certificatesIn = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []

function textOf(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ProblemsError([
      { code: 'input.unreadable', path: flag, reason: `cannot read ${path}: ${messageOf(error)}` },
    ])
  }
}
