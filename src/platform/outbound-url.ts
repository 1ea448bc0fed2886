/**
 * Which URLs a stranger may make us dial: everything that can be decided before a name is resolved (contract §6).
 *
 * Invariant: a URL that has two readings is refused, and a literal address is judged here, because a socket asks no resolver for
 * one.
 */
import { isIP } from 'node:net';
import { isLoopbackAddress, isMapped, isPublicAddress, isWithinNetworks } from './addresses.ts';
import type { Opener } from './platform.ts';

/** What a mode of the gateway permits. */
export interface DialRules {
  /** Sandbox mode: this machine itself may be dialled, for shops under development. */
  readonly allowLoopback: boolean;
  /** Addresses and networks that may be dialled though they are not public: containers beside a sandbox. None when absent. */
  readonly networks?: readonly string[];
  /** Production: `http:` is refused. */
  readonly requireHttps: boolean;
}

/** A URL taken apart, or the reason why it is not dialled. */
export type Target = { readonly origin: string; readonly path: string } | { readonly refused: string };

/** Characters, counted as the schema of a request counts them: one that takes two places in a string is one. */
const MAX_URL_LENGTH = 2048;

/** Blanks, control characters and backslashes: parsers disagree about them, and none belongs in a URL. */
const AMBIGUOUS = /[\s\\\p{Cc}\p{Zs}]/u;

/** Docker, MySQL, PostgreSQL, Redis, Elasticsearch, memcached, MongoDB: services that would read a POST as commands. */
const PORTS_REFUSED = new Set([2375, 3306, 5432, 6379, 9200, 11_211, 27_017]);

const NAMES_REFUSED = ['local', 'internal', 'home.arpa'];

/**
 * Judges a merchant's URL. One that only a customer's browser opens may have any port and a fragment: the gateway posts nothing
 * there.
 */
export function targetOfMerchant(text: string, rules: DialRules, opener: Opener = 'gateway'): Target {
  if (Array.from(text).length > MAX_URL_LENGTH) return refuse(`it is longer than ${MAX_URL_LENGTH} characters`);
  if (AMBIGUOUS.test(text) || !/^https?:\/\/[^/]/i.test(text)) return refuse('it is not an http(s) address');
  const url = parse(text);
  if (url === undefined) return refuse('it is not an http(s) address');
  if (rules.requireHttps && url.protocol !== 'https:') return refuse('it does not begin with https://');
  // A bare `@` or `#` leaves no trace in the parsed URL, but another reader may see one.
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return refuse('it holds credentials');
  if (opener === 'gateway' && text.includes('#')) return refuse('it has a fragment');
  if (opener === 'gateway' && !isPort(url, rules)) return refuse('its port is not allowed');
  const host = refusedHost(url.hostname, rules);
  if (host !== undefined) return refuse(host);
  return { origin: url.origin, path: url.pathname + url.search };
}

/** Takes the URL of an upstream apart. It comes from the operator's configuration and may lead anywhere. */
export function targetOfUpstream(text: string): Target {
  const url = parse(text);
  if (url === undefined || !/^https?:$/.test(url.protocol)) return refuse('it is not an http(s) address');
  return { origin: url.origin, path: url.pathname + url.search };
}

function hasNetworks({ networks = [] }: DialRules): boolean {
  return networks.length > 0;
}

/** Whether an address may be dialled under these rules. */
export function isAddressAllowed(address: string, rules: DialRules): boolean {
  if (isPublicAddress(address) || (rules.allowLoopback && isLoopbackAddress(address))) return true;
  return isWithinNetworks(address, rules.networks ?? []);
}

/** `localhost` and names below it: always this machine (RFC 6761), whatever a name server says. */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

function refuse(refused: string): Target {
  return { refused };
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Ports below 1024 are the system's own services. In sandbox mode they are allowed on this machine: a shop may use one. */
function isPort(url: URL, rules: DialRules): boolean {
  if (url.port === '') return true;
  const port = Number(url.port);
  if (port >= 1024) return !PORTS_REFUSED.has(port);
  return port === 80 || port === 443 || (port > 0 && isThisMachine(bare(url.hostname)) && rules.allowLoopback);
}

function isThisMachine(host: string): boolean {
  return isIP(host) === 0 ? isLocalhost(host) : isLoopbackAddress(host);
}

/** Without the brackets of IPv6 and the trailing dot of a full name. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** The URL parser has brought every form of an IPv4 address (127.1, 0x7f000001, ①②⑦…) into the usual one by now. */
function refusedHost(hostname: string, rules: DialRules): string | undefined {
  const host = bare(hostname);
  if (isMapped(host)) return 'its address is an IPv4 one that is written as IPv6';
  if (isIP(host) !== 0) return isAddressAllowed(host, rules) ? undefined : 'its address is not public';
  if (isLocalhost(host)) return rules.allowLoopback ? undefined : 'its name is not public';
  // What such a name stands for is judged once it is resolved.
  if (hasNetworks(rules)) return undefined;
  const local = !host.includes('.') || NAMES_REFUSED.some((name) => host.endsWith(`.${name}`));
  return local ? 'its name is not public' : undefined;
}
