/**
 * Which IP addresses a stranger may make us dial (contract §6, reliability §2.4).
 *
 * Invariant: an address passes only when it is known to be public; one that cannot be parsed, is unassigned, or wraps another
 * address in a way not listed here does not.
 */
import ipaddr from 'ipaddr.js';

/**
 * Everything in IPv4 that is not the public internet (IANA's special-purpose registry), and the address by which Azure's machines
 * reach their host, which looks like a public one.
 */
const V4_REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((range) => ipaddr.IPv4.parseCIDR(range));

/** The only part of IPv6 that is assigned as public unicast. NAT64, unique local, link-local and more lie outside. */
const V6_PUBLIC = ipaddr.IPv6.parseCIDR('2000::/3');

/** Ranges inside it that are not public: protocol assignments (Teredo too), documentation, 6to4. */
const V6_REFUSED = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/** Whether an address, as a socket or a resolver writes it, belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const parsed = read(address);
  if (parsed === undefined) return false;
  if (parsed instanceof ipaddr.IPv4) return !V4_REFUSED.some((range) => parsed.match(range));
  return parsed.match(V6_PUBLIC) && !V6_REFUSED.some((range) => parsed.match(range));
}

/** Whether an address is this machine itself: 127.0.0.0/8, ::1, and the former mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return read(address)?.range() === 'loopback';
}

/** Whether an address is one of these, or lies in one of these networks (`10.0.0.0/8`). */
export function isWithinNetworks(address: string, networks: readonly string[]): boolean {
  const parsed = read(address);
  return parsed !== undefined && networks.some((network) => isInNetwork(parsed, network));
}

function isInNetwork(address: ipaddr.IPv4 | ipaddr.IPv6, network: string): boolean {
  const [first = '', bits] = network.split('/');
  const from = read(first);
  if (from === undefined || from.kind() !== address.kind()) return false;
  return address.match(from, bits === undefined ? 8 * from.toByteArray().length : Number(bits));
}

/** Whether an address is an IPv4 one in the clothes of IPv6 (::ffff:192.0.2.1). */
export function isMapped(address: string): boolean {
  return ipaddr.IPv6.isValid(address) && ipaddr.IPv6.parse(address).isIPv4MappedAddress();
}

/** Mapped addresses (::ffff:127.0.0.1) are read as the IPv4 address that they reach. */
function read(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Only the four-part decimal form: the library may read others, such as 0177.0.0.1, differently from the system.
  if (!address.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(address)) return undefined;
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}
