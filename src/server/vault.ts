// The one place that seals secrets. age, so that an operator can open what lies in the database with the key file and age(1).
// Fingerprints are keyed, so that nobody can guess a short secret from one without the key file.
import { createHmac, hkdfSync } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { armor, Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { Clock } from '../lib/clock.ts'
import { removeIfThere, syncDirectory, syncFile, temporaryNameFor } from '../lib/durable.ts'
import { CairnError, isErrno, RefusedError } from '../lib/errors.ts'
import { realFiles } from '../lib/files.ts'
import { Secret } from '../lib/redact.ts'
import { writeNew } from '../lib/write-new.ts'

export interface Vault {
  /** Whom values are sealed to; not a secret. */
  readonly recipient: string
  seal(value: Secret): Promise<string>
  open(sealed: string): Promise<Secret>
  /** The same for equal values. */
  fingerprint(value: Secret): string
}

export interface VaultOptions {
  readonly keyFile: string
  /** Whom the database was sealed to; null for a new one, for which a key is made when there is none. */
  readonly sealedTo: string | null
  readonly clock: Clock
}

export async function openVault({ keyFile, sealedTo, clock }: VaultOptions): Promise<Vault> {
  if (sealedTo === null && !existsSync(keyFile)) await makeKeyFile(keyFile, clock)
  const identity = readIdentity(keyFile)
  const recipient = await recipientOf(identity, keyFile)
  if (sealedTo !== null && recipient !== sealedTo) throw wrongKey({ keyFile, recipient, sealedTo })

  const encrypter = new Encrypter()
  encrypter.addRecipient(recipient)
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity.reveal())
  const fingerprintKey = Buffer.from(hkdfSync('sha256', identity.reveal(), '', 'cairn secret fingerprint', 32))
  return {
    recipient,
    seal: async value => armor.encode(await encrypter.encrypt(value.reveal())),
    open: async sealed => {
      try {
        return new Secret(await decrypter.decrypt(armor.decode(sealed), 'text'))
      } catch (cause) {
        throw new CairnError('vault.unreadable', 'a sealed secret cannot be opened with the key of this server', {
          hint: 'Put the secret again.',
          cause,
        })
      }
    },
    fingerprint: value => createHmac('sha256', fingerprintKey).update(value.reveal()).digest('hex'),
  }
}

/** Of two that make it at the same time, one succeeds and both use it. */
async function makeKeyFile(path: string, clock: Clock) {
  const identity = await generateX25519Identity()
  const recipient = await identityToRecipient(identity)
  const text = `# made by cairn ${clock.now().toISOString()}\n# public key: ${recipient}\n${identity}\n`
  const temporary = temporaryNameFor(path)
  try {
    writeNew(realFiles, temporary, text, 0o600)
    syncFile(realFiles, temporary)
    realFiles.link(temporary, path)
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
  } finally {
    removeIfThere(realFiles, temporary)
  }
  syncDirectory(realFiles, dirname(path))
}

function readIdentity(path: string): Secret {
  const text = readKeyFile(path)
  const identity = text.split('\n').find(line => line.startsWith('AGE-SECRET-KEY-1'))
  if (!identity) throw notAKey(path)
  return new Secret(identity.trim())
}

function readKeyFile(path: string): string {
  try {
    // A link is fine: that is how a key is mounted into a container.
    if (statSync(path).mode & 0o007)
      throw new RefusedError('vault.key-exposed', `every user of this machine can get at the key ${path}`, {
        hint: `chmod 600 ${path}; and if others have used this machine, put the secrets anew with a new key.`,
      })
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (!isErrno(cause, 'ENOENT', 'EACCES')) throw cause
    const what = isErrno(cause, 'ENOENT') ? 'is not there' : 'cannot be read by this user'
    throw new RefusedError('vault.key-missing', `the key of the secrets in the database, ${path}, ${what}`, {
      hint: 'Bring the key file of the server that made this database, and name it with --key-file.',
      cause,
    })
  }
}

async function recipientOf(identity: Secret, path: string): Promise<string> {
  try {
    return await identityToRecipient(identity.reveal())
  } catch {
    throw notAKey(path)
  }
}

const notAKey = (path: string): RefusedError =>
  new RefusedError('vault.key-invalid', `${path} holds no age identity`, {
    hint: 'It has a line that begins with AGE-SECRET-KEY-1, as age-keygen writes it.',
  })

/** Also for two servers that made a key each for one new database. */
export function wrongKey({ keyFile, recipient, sealedTo }: { keyFile: string; recipient: string; sealedTo: string }) {
  return new RefusedError(
    'vault.wrong-key',
    `the secrets in the database are sealed to ${sealedTo}, and ${keyFile} is the key of ${recipient}`,
    { hint: 'Give the key file of the server that made this database with --key-file.' },
  )
}
