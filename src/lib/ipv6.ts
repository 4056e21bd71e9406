/** The eight numbers of an IPv6 address in any spelling, without its zone. */
export function ipv6Groups(address: string): number[] {
  // URL writes all groups in hexadecimal, an IPv4 tail too, with at most one `::`.
  const spelled = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  const [head = '', tail] = spelled.split('::')
  const numbers = (text: string | undefined) => (text ? text.split(':').map(group => Number.parseInt(group, 16)) : [])
  const [before, after] = [numbers(head), numbers(tail)]
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}
