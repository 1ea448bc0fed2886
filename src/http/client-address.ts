/**
 * Where a call comes from, and whether an allow-list holds that address.
 *
 * Invariant: X-Forwarded-For counts only as far as trusted proxies wrote it; a client can never choose its address.
 */

import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Says whether an address lies in a list of addresses and CIDR ranges. */
export function addressMatcher(list: readonly string[]): (address: string) => boolean {
  const ranges = list.flatMap((entry) => parseRange(entry) ?? []);
  return (text) => {
    const address = parseAddress(text);
    return address !== undefined && ranges.some((range) => matches(address, range));
  };
}

/** The part of a request that says where it comes from. */
export interface Origin {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
  readonly headers: IncomingMessage['headers'];
}

/** Finds the client's address; empty if its connection has closed already. */
export type ClientAddress = (request: Origin) => string;

/** Finds clients' addresses behind the proxies that are trusted. */
export function clientAddressReader(trustProxy: readonly string[]): ClientAddress {
  const trusted = addressMatcher(trustProxy);
  return ({ socket, headers }) => {
    let address = socket.remoteAddress ?? '';
    const forwardedFor = headers['x-forwarded-for']?.toString();
    if (forwardedFor === undefined || trustProxy.length === 0) return address;
    // Each proxy appends the address that called it: read from the right, as long as the writer is trusted.
    const hops = forwardedFor.slice(-2_000).split(',');
    for (let hop = hops.pop(); hop !== undefined && trusted(address); hop = hops.pop()) {
      const named = addressIn(hop.trim());
      if (named === undefined) break;
      address = named;
    }
    return address;
  };
}

/** The key by which failed attempts are counted: one IPv4 address, or the /64 that one IPv6 customer has. */
export function addressKey(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return text.slice(0, 64);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return address.parts.slice(0, 4).join(':');
}

const V4_WITH_PORT = /^([0-9.]+):([0-9]{1,5})$/;
const V6_IN_BRACKETS = /^\[([^\]]+)\](?::([0-9]{1,5}))?$/;
const LAST_PORT = 65_535;

/** The address in an entry of X-Forwarded-For. Some proxies append the port, and then put IPv6 in brackets. */
function addressIn(entry: string): string | undefined {
  const [, v4, v4Port] = V4_WITH_PORT.exec(entry) ?? [];
  const [, v6, v6Port] = V6_IN_BRACKETS.exec(entry) ?? [];
  if (Number(v4Port ?? v6Port ?? 0) > LAST_PORT) return undefined;
  if (v4 !== undefined) return ipaddr.IPv4.isValidFourPartDecimal(v4) ? v4 : undefined;
  if (v6 !== undefined) return ipaddr.IPv6.isValid(v6) ? v6 : undefined;
  return parseAddress(entry) === undefined ? undefined : entry;
}

function parseAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

/** The bits before the IPv4 address in a mapped one, `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;

/** Of a range of IPv4-mapped addresses, the IPv4 range: callers are read as IPv4, too. */
function parseRange(text: string): [Range] | undefined {
  if (ipaddr.isValidCIDR(text)) {
    const [first, bits] = ipaddr.parseCIDR(text);
    const isMapped = first instanceof ipaddr.IPv6 && first.isIPv4MappedAddress() && bits >= MAPPED_BITS;
    return isMapped ? [[first.toIPv4Address(), bits - MAPPED_BITS]] : [[first, bits]];
  }
  const address = parseAddress(text);
  return address === undefined ? undefined : [[address, address instanceof ipaddr.IPv4 ? 32 : 128]];
}

function matches(address: Address, [range, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return range instanceof ipaddr.IPv4 && address.match(range, bits);
  return range instanceof ipaddr.IPv6 && address.match(range, bits);
}
