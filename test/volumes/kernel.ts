// A Linux kernel of its own as an ordinary process (user-mode Linux), so that a test can mount a disk with the real file
// system code where the kernel of the machine lacks it, or mounting is not allowed. It sees the files of the host, read-only.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../src/lib/run.ts'
import { temporaryDirectory } from '../../src/volumes/kinds/temporary-directory.fake.ts'

const init = (script: string) => `#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /run
insmod /usr/lib/uml/modules/*/kernel/drivers/cdrom/cdrom.ko
insmod /usr/lib/uml/modules/*/kernel/fs/isofs/isofs.ko
${script}
echo o > /proc/sysrq-trigger
`

/** What the shell script prints as root of the guest, with the file as the disk /dev/ubda. */
export async function runOnKernel(disk: string, script: string): Promise<string> {
  const place = temporaryDirectory()
  const first = join(place, 'init')
  writeFileSync(first, init(script), { mode: 0o755 })
  const { stdout } = await run(
    'linux.uml',
    [
      'rootfstype=hostfs rootflags=/ ro quiet mem=128M con=null con0=null,fd:1',
      `ubd0r=${disk} init=${first} uml_dir=${place}`,
    ].flatMap(line => line.split(' ')),
    { timeoutMs: 120_000, env: { TMPDIR: place } },
  )
  return stdout.replaceAll('\r', '')
}
