// A cloud-init volume as others read it: isoinfo, blkid, a Linux kernel, and cloud-init itself.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cloudInitKind } from '../../src/volumes/kinds/cloud-init.ts'
import { aRequest, kindContext } from '../../src/volumes/kinds/context.fake.ts'
import { describeWith } from '../require.ts'
import { runOnKernel } from './kernel.ts'
import { output, volumesPlace } from './tools.ts'

const cloudInit = {
  userData: `#cloud-config\nhostname: one\nruncmd:\n${'  - [echo, "grüße"]\n'.repeat(200)}`,
  networkConfig: 'version: 2\nethernets:\n  eth0:\n    dhcp4: true\n',
  vendorData: '#cloud-config\ntimezone: UTC\n',
}

async function aSeed(): Promise<string> {
  const path = join(volumesPlace().volumes, 'web+seed#3.iso')
  const config = { origin: 'cloud-init', id: 'seed', format: 'iso', cloudInit } as const
  await cloudInitKind.create(aRequest(path, { config }), kindContext())
  return path
}

describeWith(['isoinfo', 'blkid'], 'a cloud-init volume, read by tools', () => {
  it('is known by its label', async () => {
    const seed = await aSeed()
    const about = await output('blkid', '-p', '-o', 'export', seed)
    expect(about.split('\n')).toEqual(expect.arrayContaining(['LABEL=cidata', 'TYPE=iso9660']))
  })

  it.each([
    ['Rock Ridge', '-R', ''],
    ['Joliet', '-J', ';1'],
  ])('gives its files by %s', async (_, flag, version) => {
    const seed = await aSeed()
    expect((await output('isoinfo', flag, '-f', '-i', seed)).trim().split('\n')).toEqual(
      ['/meta-data', '/network-config', '/user-data', '/vendor-data'].map(name => name + version),
    )
    const content = await output('isoinfo', flag, '-x', `/user-data${version}`, '-i', seed)
    expect(content).toBe(cloudInit.userData)
  })
})

describeWith(['linux.uml', 'insmod', 'blkid', 'cloud-init'], 'a cloud-init volume on a Linux kernel', () => {
  it('is mounted, with Rock Ridge and with Joliet', async () => {
    const seed = await aSeed()
    const said = await runOnKernel(
      seed,
      `for options in ro ro,norock; do
  mount -t iso9660 -o $options /dev/ubda /mnt && stat -c 'FILE %n %s %a' /mnt/*
  umount /mnt
done`,
    )
    const size = Buffer.byteLength(cloudInit.userData)
    expect(said).toContain(`FILE /mnt/user-data ${size} 400`)
    expect(said).toContain(`FILE /mnt/user-data ${size} 555`)
    expect(said.match(/^FILE/gm)).toHaveLength(8)
  })

  it('is found by cloud-init by its label, mounted and understood', async () => {
    const seed = await aSeed()
    const said = await runOnKernel(seed, `python3 - <<'END'\n${readAsCloudInit}END`)
    expect(JSON.parse(/^SEEN (.*)$/m.exec(said)?.[1] ?? said)).toEqual({
      found: true,
      device: '/dev/ubda',
      metaData: expect.objectContaining({ 'instance-id': 'web-seed-3', 'local-hostname': 'seed' }),
      userData: cloudInit.userData,
      vendorData: cloudInit.vendorData,
      network: { version: 2, ethernets: { eth0: { dhcp4: true } } },
    })
  })
})

const readAsCloudInit = `
import json
from cloudinit import helpers, settings
from cloudinit.sources import DataSourceNoCloud
paths = helpers.Paths({'cloud_dir': '/run/cloud', 'run_dir': '/run/cloud-init'})
source = DataSourceNoCloud.DataSourceNoCloud(settings.CFG_BUILTIN, None, paths)
found = source._get_data()
text = lambda value: value.decode() if isinstance(value, bytes) else value
print('SEEN ' + json.dumps({
  'found': found, 'device': source.seed, 'metaData': source.metadata, 'userData': text(source.userdata_raw),
  'vendorData': text(source.vendordata_raw), 'network': source.network_config,
}), flush=True)
`
