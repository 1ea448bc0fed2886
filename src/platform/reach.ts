/**
 * Whether an address can be reached: its name, its port and, for https, its certificate. For `doctor`.
 *
 * Invariant: nothing is sent beyond what opens a connection, which goes through the same guard as requests do.
 */

import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { guardedConnector, nameServers } from './outbound-dial.ts';
import { type DialRules, targetOfMerchant, targetOfUpstream } from './outbound-url.ts';
import { systemCodeOf } from './system-code.ts';

const MAX_REACH_MS = 5_000;

const REASONS: { readonly [code: string]: string } = {
  ADDRESS_NOT_PUBLIC: 'its address is not public',
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its name has no address',
  EAI_AGAIN: 'the name servers do not answer',
  ECONNRESET: 'the connection was cut',
  ETIMEDOUT: 'nothing answers there',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  UND_ERR_CONNECT_TIMEOUT: 'nothing answers there',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by a trusted authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by a trusted authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** Why an address cannot be reached; undefined: it can. With `rules` it is a merchant's address, to which these apply. */
export async function whyUnreachable(address: string, rules?: DialRules): Promise<string | undefined> {
  const target = rules === undefined ? targetOfUpstream(address) : targetOfMerchant(address, rules);
  if ('refused' in target) return target.refused;
  const { protocol, hostname, host, port } = new URL(target.origin);
  const dial =
    rules === undefined
      ? buildConnector({ timeout: MAX_REACH_MS, rejectUnauthorized: true })
      : guardedConnector(rules, nameServers({ alsoSystem: rules.allowLoopback }), MAX_REACH_MS);
  try {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const name = hostname.replace(/^\[|\]$/g, '');
      const options = { protocol, hostname: name, host, port: port === '' ? defaultPort(protocol) : port };
      dial({ ...options, ...(protocol === 'https:' ? { servername: name } : {}) }, (error, connected) => {
        if (error === null) resolve(connected);
        else reject(error);
      });
    });
    socket.destroy();
    return undefined;
  } catch (error) {
    const code = systemCodeOf(error) ?? 'no code';
    return REASONS[code] ?? `the connection failed (${code})`;
  }
}

function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}
