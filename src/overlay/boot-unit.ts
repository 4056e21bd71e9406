// The oneshot that looks after an interrupted or unconfirmed switch at boot. Its two entries in /etc are the same on every
// machine; the file they lead to lies in the store and says where Cairn is on this one.
import { join } from 'node:path'
import { writeDurably } from '../lib/durable.ts'
import type { Files } from '../lib/files.ts'
import type { DirectEntry } from './etc/entry.ts'
import type { Layout } from './layout.ts'
import type { EtcTarget } from './names.ts'
import type { Systemd } from './systemd/systemd.ts'

const unit = 'cairn-recover.service'

/** A machine that is only a directory is never booted; who starts next in it looks after what was interrupted. */
export const boots = ({ kind }: Systemd): boolean => kind !== 'offline' && kind !== 'runner'

export function bootEntries(layout: Layout): DirectEntry[] {
  const entry = (target: string, text: string): DirectEntry => ({
    kind: 'direct',
    target: target as EtcTarget,
    text,
    from: 'cairn itself',
    declaredAt: '',
  })
  return [
    entry(`systemd/system/${unit}`, join(layout.store, 'recover.service')),
    entry(`systemd/system/multi-user.target.wants/${unit}`, `../${unit}`),
  ]
}

export const isBootTarget = (target: string) => target.endsWith(`/${unit}`)

/** Type=exec: multi-user.target must not wait for it, since what it starts may wait for that target. */
export function writeBootUnit(files: Files, layout: Layout, self: readonly string[]) {
  const path = join(layout.prefix || '/', layout.store, 'recover.service')
  const command = [...self, 'node', 'recover', '--store', layout.store].map(quoted).join(' ')
  const text = `[Unit]
Description=Finish or take back an interrupted Cairn switch
After=local-fs.target dbus.socket
ConditionDirectoryNotEmpty=${join(layout.store, 'journal')}

[Service]
Type=exec
ExecStart=${command}
X-RestartIfChanged=false

[Install]
WantedBy=multi-user.target
`
  if (files.lstat(path) && files.readFile(path).toString('utf8') === text) return
  writeDurably(files, path, text)
}

const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word.replaceAll('%', '%%') : JSON.stringify(word))
