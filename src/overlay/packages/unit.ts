// A systemd-unit package: one unit's rendered file and its drop-ins, as systemd will read them.
import { dirname, join } from 'node:path'
import { makeDirectories } from '../../lib/durable.ts'
import { writeNew } from '../../lib/write-new.ts'
import type { Layout } from '../layout.ts'
import type { StateName, UnitName } from '../names.ts'
import type { Package } from '../store/package.ts'

export interface RenderedUnit {
  readonly name: UnitName
  readonly version: string
  /** Path in the state -> text: `containerd.service`, `containerd.service.d/10-limits.conf`. */
  readonly texts: Readonly<Record<string, string>>
  /** States of the packages that it declared. */
  readonly packages: readonly StateName[]
}

export function unitPackage({ store }: Layout, { name, version, texts, packages }: RenderedUnit): Package {
  return {
    kind: 'systemd-unit',
    name: `${name.replace(/\.service$/, '')}-unit`,
    version,
    inputs: { store, texts },
    references: packages,
    async build(directory, { files }) {
      for (const [path, text] of Object.entries(texts)) {
        makeDirectories(files, join(directory, dirname(path)))
        writeNew(files, join(directory, path), text)
      }
      return {}
    },
  }
}
