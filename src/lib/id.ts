// Ids that sort by the time they were made: 9 characters of milliseconds, 11 of chance.
import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export function makeId(now: Date, random: (bytes: number) => Uint8Array = randomBytes): string {
  let time = ''
  for (let rest = now.getTime(), place = 0; place < 9; place++, rest = Math.floor(rest / 32))
    time = alphabet[rest % 32] + time
  let chance = ''
  for (const byte of random(11)) chance += alphabet[byte % 32]
  return time + chance
}
