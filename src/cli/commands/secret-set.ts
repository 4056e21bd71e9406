import { askSecret } from '../bundle-input.ts'
import { answer, command } from '../command.ts'
import { flag, required, text } from '../parameter.ts'
import { controlPlane, serverOptions, textOf, withServer } from '../server.ts'

export const secretSet = command({
  name: 'secret set',
  group: controlPlane,
  nature: 'server',
  summary: 'set the value of a secret; it is never shown again',
  description: [
    'The value is asked for without showing it, or read from a file or standard input. It is kept encrypted.',
  ],
  args: { key: required(text('KEY', 'as secretRef names it')) },
  options: {
    file: text('--from-file FILE', 'all of the file but a last line feed', 'file'),
    stdin: flag('--stdin', 'read it from standard input'),
    ...serverOptions,
  },
  examples: [
    { line: 'cairn secret set registry-password', about: 'asks for it' },
    { line: 'cairn secret set registry-password --from-file ./password', about: 'from a file' },
  ],
  run: async ({ key, file, stdin, ...values }, session) => {
    const { putSecret } = await import('../../server/contract/access.ts')
    const given =
      file !== undefined
        ? textOf(file, '--from-file')
        : stdin
          ? Buffer.from(await session.terminal.readInput()).toString('utf8')
          : await askSecret(key, session)
    const body = { value: given.replace(/\r?\n$/, '') }
    const { changed } = await withServer(values, client => client.call(putSecret, { params: { key }, body }))
    return answer({
      report: { key, changed },
      print: () => (changed ? `Secret ${key} is set.` : `Secret ${key} had this value already.`),
    })
  },
})
