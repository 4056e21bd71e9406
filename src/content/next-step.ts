// What would bring on something that is held up; absent when it goes on by itself.
import type { ContentError } from './messages.ts'

const steps: Readonly<Record<string, string>> = {
  'content.digest-mismatch': 'Every source gave other bytes. Check them before you change the digest.',
  'content.no-platform': 'Ask for one of the platforms that it has.',
  'content.no-space': 'Free some space (cairn content gc), then try again.',
  'runtime.unavailable': 'Start the container runtime.',
  'signature.invalid': 'Have it signed with a key that is trusted here.',
  'signature.missing': 'Have it signed, or ask for another policy.',
  'signature.waiting': 'Send the certificate that its signature needs.',
  'source.unauthorized': 'Check the user and the password of its datastore in etc/cairn/content.json.',
  'volume.claimed': 'Make it read-only, or ask for a volume of its own.',
  'volume.generation-required': 'Raise the generation; the volume as it is stays until then.',
}

export function nextStep({ code, retryAt }: { code: ContentError['code']; retryAt?: unknown }): string | undefined {
  const step = steps[code]
  if (step !== undefined) return step
  return retryAt === undefined ? undefined : 'It may pass: the same command goes on where it was.'
}
