import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf, trustOf, trustOptions } from '../content.ts'
import { whereOf } from '../node.ts'
import { required, text } from '../parameter.ts'

export const contentPull = command({
  name: 'content pull',
  group: contentGroup,
  nature: 'store',
  summary: 'fetch an image or a file, verified, and keep it',
  description: [
    'The downloader fetches; the verifier, which has no network, copies what came while it hashes it; only what has the right digest, size and signature is kept. What is there already is not fetched again, and what was cut off is gone on with.',
    'REF is an image (registry.example/app:1.2, with @sha256:… pinned), an https:// address, a path, or oci-layout:DIR:TAG. Passwords and mirrors stand in /etc/cairn/content.json, never on a command line.',
  ],
  args: { reference: required(text('REF', 'what to fetch', 'file')) },
  options: {
    ...trustOptions,
    platform: text('--platform P', 'os/architecture of an image; default this machine’s'),
    ...contentOptions,
  },
  examples: [
    { line: 'cairn content pull registry.example/app:1.2', about: 'an image for this machine; the tag is latched' },
    {
      line: 'cairn content pull registry.example/app:1.2 --key team.pub',
      about: 'only with the signature of that key',
    },
    { line: 'cairn content pull https://example.com/disk.qcow2 --digest 9f2c…', about: 'one file, pinned' },
    { line: 'cairn content pull oci-layout:/media/stick:1.2 --root ./try', about: 'from a stick, without root' },
  ],
  run: async (values, session) => {
    const { pullContent } = await import('../../content/node.ts')
    const { digestOf, platformOf } = await import('../content-values.ts')
    const { printPulled } = await import('../views/content.ts')
    const trust = trustOf(values)
    const report = await pullContent(values.reference, {
      ...contentOptionsOf(values, session),
      ...(values.digest !== undefined && { sha256: digestOf(values.digest) }),
      ...(values.platform !== undefined && { platform: platformOf(values.platform) }),
      ...(trust && { trust }),
    })
    return answer({ report, print: printPulled, where: whereOf(values) })
  },
})
