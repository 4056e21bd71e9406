// Who takes part: Cairn always, the others where they are installed.
import { findTool, type Tool } from '../lib/tool.ts'
import { type Ansible, ansibleAt } from './ansible.ts'
import { type Cairn, cairnAt } from './cairn.ts'
import type { Data } from './data.ts'
import { type Nix, nixAt } from './nix.ts'
import { type Ostree, ostreeAt } from './ostree.ts'
import { type Stow, stowAt } from './stow.ts'

/** Each makes itself a place in a directory of its own. Null is not installed. */
export interface Programs {
  readonly cairn: (root: string) => Cairn
  readonly stow: ((target: string, data: Data) => Stow) | null
  readonly nix: ((directory: string, options?: { synced: boolean }) => Nix) | null
  readonly ostree: ((directory: string) => Ostree) | null
  readonly ansible: ((directory: string, data: Data) => Ansible) | null
}

export function findPrograms(cairn: string): { tools: Tool[]; programs: Programs } {
  const stow = findTool('stow')
  const nix = findTool('nix-store')
  const ostree = findTool('ostree')
  const ansible = findTool('ansible-playbook')
  return {
    tools: [stow, nix, ostree, ansible, findTool('cp')],
    programs: {
      cairn: root => cairnAt(cairn, root),
      stow: using(stow, stowAt),
      nix: using(nix, nixAt),
      ostree: using(ostree, ostreeAt),
      ansible: using(ansible, ansibleAt),
    },
  }
}

function using<A extends unknown[], R>({ path }: Tool, make: (program: string, ...rest: A) => R) {
  return path === null ? null : (...rest: A) => make(path, ...rest)
}
