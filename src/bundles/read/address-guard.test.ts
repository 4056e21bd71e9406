import { describe, expect, it } from 'vitest'
import { ProblemsError } from '../../lib/errors.ts'
import { addressGuard } from './address-guard.ts'

const allows = (address: string, allow: string[] = [], host = 'some.host') =>
  addressGuard(allow).allows({ host, address })

describe('the address guard', () => {
  it.each([
    '93.184.216.34',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '2606:4700::1111',
    '2a00::1',
    '64:ff9b::8.8.8.8',
  ])('lets the public address %s through', address => expect(allows(address)).toBe(true))

  it.each([
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1']],
    ['link-local, where cloud metadata is', ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
    ['carrier NAT', ['100.64.0.1', '100.127.255.255']],
    ['unique-local', ['fc00::1', 'fd00:ec2::254']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    ['broadcast and reserved', ['255.255.255.255', '240.0.0.1', '192.0.0.1', '198.18.0.1', '192.0.2.1', '2001:db8::1']],
    [
      'IPv4 in IPv6',
      ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1', '2002:7f00:1::', '2001::1'],
    ],
    ['private behind NAT64', ['64:ff9b::10.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::1']],
  ])('refuses what is %s', (_, addresses) => {
    expect(addresses.filter(address => allows(address))).toEqual([])
  })

  it('opens addresses and networks of the allow-list, and no others', () => {
    const allow = ['10.1.0.0/16', '127.0.0.1', 'fd00::/8', '[::1]']
    expect(['10.1.255.1', '127.0.0.1', 'fd12::1', '::1'].every(address => allows(address, allow))).toBe(true)
    expect(['10.2.0.1', '127.0.0.2', 'fc12::1', '::2', '192.168.0.1'].some(address => allows(address, allow))).toBe(
      false,
    )
  })

  it('opens all addresses of a host of the allow-list, and of no other', () => {
    expect(allows('10.0.0.1', ['Git.internal'], 'git.internal')).toBe(true)
    expect(allows('10.0.0.1', ['git.internal'], 'other.git.internal')).toBe(false)
  })

  it('refuses an allow-list that it does not understand, with every fault of it', () => {
    const wrong = ['10.0.0.0/33', 'https://git.internal', 'git.internal', '10.0.0.0/x', 'git/8', '', '*.internal']
    const problems = [0, 1, 3, 4, 5, 6].map(at => ({ code: 'url.allow-invalid', path: `allow[${at}]` }))
    expect(() => addressGuard(wrong)).toThrow(ProblemsError)
    try {
      addressGuard(wrong)
    } catch (error) {
      expect((error as ProblemsError).problems).toMatchObject(problems)
    }
  })
})
