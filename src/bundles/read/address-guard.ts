// Which network addresses may be dialled for a URL that somebody gave: those of the public internet, and what an allow-list
// opens. Everything else (this machine, its networks, cloud metadata) would let a URL reach what its giver cannot.
import { BlockList, isIP, isIPv6 } from 'node:net'
import { ProblemsError } from '../../lib/errors.ts'
import { ipv6Groups } from '../../lib/ipv6.ts'
import type { Problem } from '../../lib/problem.ts'

export interface AddressGuard {
  /** `host` is as in the URL, `address` the one that is about to be dialled for it. */
  allows(target: { readonly host: string; readonly address: string }): boolean
}

/** Entries are host names, addresses, or networks such as `10.1.0.0/16`. Throws a ProblemsError when one is none of these. */
export function addressGuard(allow: readonly string[]): AddressGuard {
  const hosts = new Set<string>()
  const networks = new BlockList()
  const problems: Problem[] = []
  for (const [index, entry] of allow.entries()) {
    const [address = '', prefix] = entry
      .replace(/^\[(.*)\]$/, '$1')
      .toLowerCase()
      .split('/', 2)
    const bits = isIPv6(address) ? 128 : 32
    if (isIP(address) && prefix === undefined) networks.addAddress(address, familyOf(address))
    else if (isIP(address) && /^\d{1,3}$/.test(prefix ?? '') && Number(prefix) <= bits)
      networks.addSubnet(address, Number(prefix), familyOf(address))
    else if (hostName.test(entry)) hosts.add(address)
    else problems.push(invalidEntry(entry, index))
  }
  if (problems.length > 0) throw new ProblemsError(problems)
  return {
    allows({ host, address }) {
      const plain = address.replace(/%.*$/, '')
      return hosts.has(host.toLowerCase()) || networks.check(plain, familyOf(plain)) || isPublic(plain)
    },
  }
}

const hostName = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

const invalidEntry = (entry: string, index: number): Problem => ({
  code: 'url.allow-invalid',
  path: `allow[${index}]`,
  reason: `"${entry}" is neither a host name nor an address nor a network`,
  hint: 'Write git.example.com, 10.1.2.3 or 10.1.0.0/16.',
})

function isPublic(address: string): boolean {
  if (!isIPv6(address)) return !notPublic.check(address, 'ipv4')
  const behind = behindNat64(address)
  if (behind !== undefined) return isPublic(behind)
  return globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

/** Everything outside (IPv4-mapped, unique-local, link-local, multicast, loopback, unspecified …) is not public. */
const globalUnicast = listOf(['2000::/3'])

const notPublic = listOf([
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address in disguise
  '3fff::/20', // documentation
])

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return list
}

/** The IPv4 address that 64:ff9b::/96 stands for: how a network without IPv4 reaches it. */
function behindNat64(address: string): string | undefined {
  if (!nat64.check(address, 'ipv6')) return undefined
  const [high = 0, low = 0] = ipv6Groups(address).slice(6)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

const nat64 = listOf(['64:ff9b::/96'])
