/**
 * Dials a host that a stranger named: resolves the name itself, checks every address, and connects to none but those.
 *
 * Invariant: no request travels over a connection whose remote address was not checked. The socket gets exactly the addresses
 * that were judged (the name server is never asked a second time), and the address that it reached is checked once more.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import { isMapped } from './addresses.ts';
import { type DialRules, isAddressAllowed, isLocalhost } from './outbound-url.ts';

/** All addresses of a name. Rejects when there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Milliseconds that a connection may take to be established: name, TCP and TLS. */
export const MAX_CONNECT_MS = 10_000;

/** The `code` of the error with which a guarded connection fails when an address is not allowed. */
export const BLOCKED = 'ADDRESS_NOT_PUBLIC';

/** Connects like undici's own connector, under the guard. */
export function guardedConnector(
  rules: DialRules,
  resolve: Resolve,
  timeout = MAX_CONNECT_MS,
): buildConnector.connector {
  const dial = buildConnector({
    timeout,
    rejectUnauthorized: true,
    autoSelectFamily: true,
    lookup: guardedLookup(rules, resolve),
  });
  return (options, callback) => {
    dial(options, (...result) => {
      const [error, socket] = result;
      if (error !== null || isAddressAllowed(socket?.remoteAddress ?? '', rules)) {
        callback(...result);
        return;
      }
      socket.destroy();
      callback(blocked(), null);
    });
  };
}

/** The guard in the form in which a socket looks up addresses. */
function guardedLookup(rules: DialRules, resolve: Resolve): LookupFunction {
  const judge = callbackify((name: string) => judgedAddresses(name, rules, resolve));
  return (name, options, callback) => {
    judge(name, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, addresses[0].address, addresses[0].family);
    });
  };
}

/** The addresses of a name, at least one. A single one that is not allowed rejects them all. */
async function judgedAddresses(
  name: string,
  rules: DialRules,
  resolve: Resolve,
): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
  const addresses = await addressesOf(name, resolve);
  if (!addresses.every((address) => !isMapped(address) && isAddressAllowed(address, rules))) throw blocked();
  const [first, ...others] = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (first === undefined) throw noAddress();
  return [first, ...others];
}

async function addressesOf(name: string, resolve: Resolve): Promise<readonly string[]> {
  const plain = name.replace(/\.$/, '').toLowerCase();
  return isLocalhost(plain) ? ['127.0.0.1', '::1'] : resolve(plain);
}

function blocked(): Error {
  return Object.assign(new Error('an address of the name is not public'), { code: BLOCKED });
}

function noAddress(): Error {
  return Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' });
}

/**
 * Asks name servers for A and AAAA records. Not `getaddrinfo`: that holds one of the process's few threads for as long as a name
 * server takes, and any merchant may run a slow one.
 */
export function nameServers(options: {
  /** Ask the system if name servers know nothing, for names of the hosts file (sandbox mode). */
  readonly alsoSystem: boolean;
  /** `address:port` of each; those of the machine when absent. */
  readonly servers?: readonly string[];
}): Resolve {
  return sharing(async (name) => {
    // A new resolver each time, so that a change of the machine's network is noticed.
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])];
    if (addresses.length > 0) return addresses;
    if (options.alsoSystem) return (await systemLookup(name, { all: true })).map((answer) => answer.address);
    throw noAddress();
  });
}

/** Callers that ask for a name while a query for it is in flight share its answer: 64 new connections make one query. */
function sharing(resolve: Resolve): Resolve {
  const asked = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const running = asked.get(name);
    if (running !== undefined) return running;
    const answer = resolve(name).finally(() => asked.delete(name));
    asked.set(name, answer);
    return answer;
  };
}
