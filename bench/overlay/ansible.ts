// ansible on a local connection, without facts and with pipelining: as fast as it goes without a plugin.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeAll } from '../lib/remove.ts'
import type { Contender } from '../lib/rounds.ts'
import type { Data } from './data.ts'

export interface Ansible {
  begin(): void
  /** One link a file: `file` in a loop. */
  links(): Contender
  /** A folder at once: `copy`. */
  copy(): Contender
  copyCheck(): Contender
}

export function ansibleAt(program: string, directory: string, { sources, packages }: Data): Ansible {
  const links = join(directory, 'links')
  const copies = join(directory, 'copies')
  const linkBook = join(directory, 'links.json')
  const copyBook = join(directory, 'copies.json')
  const env = {
    HOME: join(directory, 'home'),
    ANSIBLE_PIPELINING: '1',
    ANSIBLE_LOCALHOST_WARNING: '0',
    ANSIBLE_NOCOLOR: '1',
    LC_ALL: 'C.UTF-8',
  }
  const play = (name: string, book: string, ...options: string[]): Contender => ({
    name,
    program,
    args: ['-i', 'localhost,', ...options, book],
    env,
  })
  return {
    begin() {
      removeAll(directory)
      const files = packages.flatMap(name =>
        readdirSync(join(sources, name), { recursive: true, withFileTypes: true })
          .filter(entry => entry.isFile())
          .map(entry => join(entry.parentPath, entry.name).slice(join(sources, name).length + 1))
          .map(path => ({ name, path })),
      )
      for (const { path } of files) mkdirSync(join(links, path, '..'), { recursive: true })
      mkdirSync(env.HOME)
      writeFileSync(
        linkBook,
        playbook([
          {
            'ansible.builtin.file': {
              src: `${sources}/{{ item.name }}/{{ item.path }}`,
              dest: `${links}/{{ item.path }}`,
              state: 'link',
            },
            loop: files,
          },
        ]),
      )
      writeFileSync(
        copyBook,
        playbook(
          packages.map(name => ({ 'ansible.builtin.copy': { src: join(sources, name, '/'), dest: `${copies}/` } })),
        ),
      )
    },
    links: () => play('ansible, file loop', linkBook),
    copy: () => play('ansible, copy', copyBook),
    copyCheck: () => play('ansible, copy --check --diff', copyBook, '--check', '--diff'),
  }
}

/** JSON is YAML. */
const playbook = (tasks: readonly object[]) =>
  JSON.stringify([{ hosts: 'localhost', connection: 'local', gather_facts: false, tasks }])
