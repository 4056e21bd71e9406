import { answer, command } from '../command.ts'
import { contentGroup, contentOptions, contentOptionsOf, trustOf, trustOptions } from '../content.ts'
import { readInput } from '../input.ts'
import { whereOf } from '../node.ts'
import { choice, flag, required, size, text } from '../parameter.ts'

export const volumeCreate = command({
  name: 'volume create',
  group: contentGroup,
  nature: 'store',
  summary: 'make a disk or a container’s root from content, or from nothing',
  description: [
    'A disk image becomes a read/write copy (a reflink where the file system can), grown to --size; with --read-only the verified file itself is used. --kind container makes rootfs/ and image-config.json from an image. --from blank makes a sparse disk, --from cloud-init a NoCloud disk with the label cidata.',
  ],
  args: { name: required(text('NAME', 'lower-case letters, digits and hyphens')) },
  options: {
    from: required(text('--from SOURCE', 'blank, cloud-init, or what cairn content pull takes', 'file')),
    size: size('--size SIZE', 'how large it is to be: 10GiB; default the size of its image'),
    kind: choice('--kind KIND', 'default disk', ['disk', 'container']),
    format: choice('--format FORMAT', 'of a disk; default by the name of its source, else raw', [
      'raw',
      'qcow2',
      'vmdk',
      'vhdx',
      'iso',
    ]),
    readOnly: flag('--read-only', 'no copy: the verified file itself'),
    fileSystem: choice('--file-system TYPE', 'make one on a blank disk', ['ext4', 'xfs', 'vfat']),
    userData: text('--user-data FILE', 'for --from cloud-init', 'file'),
    metaData: text('--meta-data FILE', 'for --from cloud-init', 'file'),
    networkConfig: text('--network-config FILE', 'for --from cloud-init', 'file'),
    ...trustOptions,
    ...contentOptions,
  },
  examples: [
    { line: 'cairn volume create data --from blank --size 10GiB', about: 'takes no space until it is written to' },
    { line: 'cairn volume create web --from https://example.com/web.qcow2 --size 20GiB', about: 'a copy, grown' },
    { line: 'cairn volume create app --kind container --from registry.example/app:1.2', about: 'rootfs of an image' },
    { line: 'cairn volume create seed --from cloud-init --user-data user-data.yaml', about: 'for a first boot' },
  ],
  run: async (values, session) => {
    const { createVolume } = await import('../../volumes/node.ts')
    const { digestOf } = await import('../content-values.ts')
    const { printVolume } = await import('../views/volume.ts')
    const { name, from, size, kind, format, readOnly, fileSystem } = values
    const { userData, metaData, networkConfig, digest } = values
    const read = async (file: string) => (await readInput(file, session.terminal)).text
    const trust = trustOf(values)
    const report = await createVolume(
      {
        name,
        from,
        ...(size !== undefined && { size }),
        ...(kind && { kind }),
        ...(format && { format }),
        ...(readOnly && { readOnly }),
        ...(fileSystem && { fileSystem }),
        ...(digest !== undefined && { sha256: digestOf(digest) }),
        ...(trust && { trust }),
        ...(userData !== undefined && {
          cloudInit: {
            userData: await read(userData),
            ...(metaData !== undefined && { metaData: await read(metaData) }),
            ...(networkConfig !== undefined && { networkConfig: await read(networkConfig) }),
          },
        }),
      },
      contentOptionsOf(values, session),
    )
    return answer({ report, print: printVolume, where: whereOf(values) })
  },
})
