import { command } from '../command.ts'
import { list, text } from '../parameter.ts'
import { dataOption } from '../server.ts'

export const up = command({
  name: 'up',
  group: 'Start',
  nature: 'service',
  summary: 'run a control plane here',
  description: [
    'Serves the API until it is stopped. The first start makes an admin token in a file that only you can read, and the other commands find it. Without --database everything is in one SQLite file of the data folder.',
    'Several of them on one PostgreSQL share the work. Plain http is spoken on loopback only; elsewhere a certificate is made, or given.',
  ],
  options: {
    data: dataOption,
    listen: text('--listen HOST:PORT', 'default 127.0.0.1:8420'),
    database: text(
      '--database URL',
      'postgres://…; default SQLite in the data folder. A password is better in PGPASSFILE',
    ),
    keyFile: text(
      '--key-file FILE',
      'the age identity that secrets are sealed with; default in the data folder',
      'file',
    ),
    tlsCert: text('--tls-cert FILE', 'certificate of the server, in PEM; default: one of its own making', 'file'),
    tlsKey: text('--tls-key FILE', 'its key', 'file'),
    allowUrl: list(
      text(
        '--allow-url HOST|NETWORK',
        'bundle URLs may lead here although it is a private address; may be given again',
      ),
    ),
    limit: list(text('--limit NAME=NUMBER', 'resources=20000, requestBytes=…, files=…; may be given again')),
  },
  examples: [
    { line: 'cairn up', about: 'on this computer; Ctrl-C stops it' },
    { line: 'cairn up --listen 0.0.0.0:8420', about: 'for others too, with a certificate of its own' },
    { line: 'cairn up --database postgres://cairn@db.example/cairn', about: 'with PostgreSQL' },
  ],
  run: async (values, session) => (await import('../up.ts')).runUp(values, session),
})
