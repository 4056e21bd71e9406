import { spawnSync } from 'node:child_process'

/** Also what is read-only; nothing there is fine. */
export function removeAll(...paths: string[]) {
  spawnSync('chmod', ['-R', 'u+w', ...paths], { stdio: 'ignore' })
  spawnSync('rm', ['-rf', ...paths])
}
