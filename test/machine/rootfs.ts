// The root file system that every test machine is an overlay of: a minimal Debian with systemd, made once per computer
// by debootstrap (about a minute, 260 MB) and kept in the user's cache. Its name tells what is in it, so that a changed
// list of packages makes a new one. Nothing may ever be written into a finished one: machines boot from it side by side.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { mirrorOf } from './mirror.ts'
import { run } from './process.ts'

// libatomic1: Node needs it, and a minimal Debian has it not.
const packages = ['systemd', 'systemd-sysv', 'dbus', 'libatomic1', 'strace', 'iproute2', 'procps']

/** Run in the finished tree; part of its name, like the packages. */
const finish = `
  # debootstrap copies these from this computer; machine.ts gives each machine its own id and name.
  : > "$1/etc/machine-id"
  : > "$1/etc/hostname"
  : > "$1/etc/resolv.conf"
  # A machine that does only what the test tells it to.
  for unit in systemd-networkd.service systemd-networkd.socket systemd-resolved.service systemd-timesyncd.service \\
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer; do
    ln -sf /dev/null "$1/etc/systemd/system/$unit"
  done
  rm -rf "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
`

/** Makes it if it is not there; several at once wait for the first. */
export async function rootfs(): Promise<string> {
  const { suite, mirror } = mirrorOf(aptSources(), readFileSync('/etc/os-release', 'utf8'))
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cairn')
  const recipe = createHash('sha256')
    .update(JSON.stringify([suite, packages, finish]))
    .digest('hex')
    .slice(0, 12)
  const tree = join(cache, `rootfs-${suite}-${recipe}`)
  if (isThere(tree)) return tree
  mkdirSync(cache, { recursive: true })
  process.stderr.write(`making the root file system for test machines in ${tree}\n`)
  const made = await run(
    // In a mount namespace of its own, so that an interrupted debootstrap leaves no mount behind.
    ['unshare', '--mount', 'flock', join(cache, 'rootfs.lock'), 'sh', '-c', makeTree, 'sh', tree, suite, mirror],
    { env: { ...process.env, PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' } },
  )
  if (made.code !== 0) throw new Error(`debootstrap failed (${made.code}):\n${made.stdout}\n${made.stderr}`)
  return tree
}

const makeTree = `
  set -e
  tree=$1 suite=$2 mirror=$3
  if [ -d "$tree" ]; then exit 0; fi
  rm -rf --one-file-system "$tree.partial"
  debootstrap --variant=minbase --include=${packages.join(',')} "$suite" "$tree.partial" "$mirror"
  set -- "$tree.partial"
  ${finish}
  mv -T "$tree.partial" "$tree"
`

function aptSources(): { name: string; text: string }[] {
  const lists = '/etc/apt/sources.list.d'
  return ['/etc/apt/sources.list', ...(isThere(lists) ? readdirSync(lists).map(name => join(lists, name)) : [])]
    .filter(isThere)
    .map(name => ({ name, text: readFileSync(name, 'utf8') }))
}

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
