import { describe } from 'vitest'
import { checkRows } from './understand.suite.ts'

describe('the lifecycle', () => {
  const withLifecycle = (text: string) =>
    `kind: Disk\nmetadata:\n  name: x\n  lifecycle: ${text}\nspec: { size: 1GiB }\n`
  checkRows([
    ['allows what there is', withLifecycle('{ onRemove: protect, adopt: byName, ignore: [spec.size, spec.name] }'), []],
    [
      'names the policies that there are',
      withLifecycle('{ onRemove: keep }'),
      ['value.not-allowed Disk/x.metadata.lifecycle.onRemove 4:26'],
    ],
    [
      'refuses an unknown key',
      withLifecycle('{ onRemoval: retain }'),
      ['key.unknown Disk/x.metadata.lifecycle.onRemoval 4:16'],
      '"onRemove"',
    ],
    [
      'refuses to ignore what is no field',
      withLifecycle('{ ignore: [spec.sise, size] }'),
      [
        'value.invalid Disk/x.metadata.lifecycle.ignore[0] 4:25',
        'value.invalid Disk/x.metadata.lifecycle.ignore[1] 4:36',
      ],
      '"size"',
    ],
  ])
})
