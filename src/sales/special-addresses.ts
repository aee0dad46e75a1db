import { BlockList, isIP } from 'node:net'

/**
 * Addresses of special use (the IANA registries of IPv4 and IPv6): this machine, its networks,
 * documentation, multicast. A stranger's URL must not lead there.
 */
const ipv4Networks: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** Only this network of IPv6 is in public use; the parts of it below are not. */
const ipv6Public = ['2000::', 3] as const

const ipv6Networks: readonly (readonly [string, number])[] = [
  // Teredo and others of the protocols' registry.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4 carries an IPv4 address, which may be of any kind.
  ['2002::', 16],
  ['3fff::', 20],
]

const refusedIpv4 = listOf('ipv4', ipv4Networks)
const refusedIpv6 = listOf('ipv6', ipv6Networks)
const publicIpv6 = listOf('ipv6', [ipv6Public])

/**
 * Whether an address belongs to a public host. IPv6 forms that carry an IPv4 address (mapped,
 * compatible, NAT64) are not public: a public host is reached without them.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refusedIpv4.check(address, 'ipv4')
    case 6:
      return publicIpv6.check(address, 'ipv6') && !refusedIpv6.check(address, 'ipv6')
    default:
      return false
  }
}

function listOf(
  family: 'ipv4' | 'ipv6',
  networks: readonly (readonly [string, number])[],
): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family)
  return list
}
