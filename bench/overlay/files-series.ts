// The life of one machine's files, from the first import to the uninstall, each step beside those who can do it too.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { printSize } from '../../src/lib/size.ts'
import { runUnmeasured } from '../lib/command.ts'
import { removeAll } from '../lib/remove.ts'
import { type Contender, present, type Series } from '../lib/rounds.ts'
import { makeData } from './data.ts'
import { seriesOf, steps } from './names.ts'
import type { Programs } from './programs.ts'

export interface FilesOptions {
  readonly files: number
  readonly rounds: number
  readonly warmUp: boolean
  readonly place: 'disk' | 'memory'
  readonly directory: string
}

export function filesSeries(programs: Programs, { files, rounds, warmUp, place, directory }: FilesOptions): Series {
  const at = (name: string) => join(directory, name)
  mkdirSync(directory, { recursive: true })
  const data = makeData(directory, { files })
  const paths = data.packages.map(name => join(data.sources, name))
  const imported = programs.cairn(at('imported'))
  const machine = programs.cairn(at('machine'))
  const fresh = programs.cairn(at('fresh'))
  const stow = programs.stow?.(at('stow'), data)
  const nix = programs.nix?.(at('nix'))
  const syncedNix = programs.nix?.(at('nix-synced'), { synced: true })
  const ostree = programs.ostree?.(at('ostree'))
  const saved = savings({ Cairn: at('imported/cairn/states'), ...(nix && { nix: nix.store }) })

  const linkCopy: Contender = {
    name: 'cp -rs',
    program: 'cp',
    args: ['-rs', ...data.packages.map(name => join(data.sources, name, name)), at('links')],
  }
  return {
    name: seriesOf.files(files, place),
    files,
    rounds,
    warmUp,
    begin() {
      removeAll(imported.root, machine.root, fresh.root, at('links'))
      mkdirSync(at('links'))
      for (const rival of [stow, nix, syncedNix, ostree]) rival?.begin()
    },
    steps: [
      {
        name: steps.importCold,
        contenders: present(
          imported.prepare(data.importConfig),
          nix?.add(paths),
          syncedNix?.add(paths),
          ostree?.commit(data.sources),
        ),
      },
      {
        name: steps.importAgain,
        contenders: present(imported.prepare(data.importConfig), nix?.add(paths), ostree?.commit(data.sources)),
      },
      { name: steps.verify, contenders: present(imported.verify(), nix?.verify(), ostree?.fsck()) },
      {
        name: steps.dedup,
        before: saved.before,
        contenders: present(imported.prepare(data.importConfig, '--dedup'), nix?.optimise()),
        after: saved.after,
      },
      { name: steps.prepare, contenders: [machine.prepare(data.config)] },
      {
        name: steps.farmFirst,
        contenders: present(machine.apply(data.config), stow?.stow(), ostree?.checkout(), linkCopy),
      },
      { name: steps.applyCold, contenders: [fresh.apply(data.config)] },
      { name: steps.farmAgain, contenders: present(machine.apply(data.config), stow?.restow()) },
      { name: steps.status, contenders: [machine.status()] },
      {
        name: steps.changedTogether,
        before: () => data.change('together'),
        contenders: present(machine.apply(data.config), stow?.restow()),
      },
      {
        name: steps.changedSpread,
        before: () => data.change('spread'),
        contenders: present(machine.apply(data.config), stow?.restow()),
      },
      {
        name: steps.rollback,
        before() {
          nix?.setProfile(nix.addNow(paths.slice(0, 2)))
          ostree?.commitNow(data.sources)
        },
        contenders: present(machine.rollback(), nix?.rollback(), ostree?.reset()),
      },
      { name: steps.removed, contenders: present(machine.uninstall(), stow?.unstow()) },
    ],
    remarks: saved.remarks,
  }
}

/** How much smaller each directory became between before and after, the first time. */
function savings(directories: Readonly<Record<string, string>>) {
  const used = () => Object.values(directories).map(diskUsage)
  let first: number[] | null = null
  let bytes: number[] | null = null
  return {
    before() {
      first ??= used()
    },
    after() {
      bytes ??= used().map((now, index) => (first?.[index] ?? now) - now)
    },
    remarks: () =>
      Object.keys(directories).map(
        (who, index) => `Sharing equal files freed ${printSize(bytes?.[index] ?? 0)} in the store of ${who}.`,
      ),
  }
}

const diskUsage = (path: string) => Number.parseInt(runUnmeasured({ program: 'du', args: ['-s', '-B1', path] }), 10)
