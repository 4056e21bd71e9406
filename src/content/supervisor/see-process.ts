// What can be seen of the walls of a process from outside.
import { readFileSync, readlinkSync } from 'node:fs'
import type { Isolation } from '../messages.ts'

/** What cannot be seen does not count. */
export function seeProcess(pid: number): Pick<Isolation, 'netns' | 'ownUid'> {
  return {
    netns: differs(of => readlinkSync(`/proc/${of}/ns/net`), pid),
    ownUid: differs(of => /^Uid:.*$/m.exec(readFileSync(`/proc/${of}/status`, 'utf8'))?.[0], pid),
  }
}

function differs(look: (pid: number | 'self') => string | undefined, pid: number): boolean {
  try {
    return look(pid) !== look('self')
  } catch {
    return false
  }
}
