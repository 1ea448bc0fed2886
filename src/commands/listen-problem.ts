/**
 * Why listening at an address failed, in one line that names the variable to change.
 *
 * Invariant: a program is called Mbongo only if it has answered as one just now.
 */

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenUrl } from '../config.ts';

/** An address to listen at, and the variable that sets its port. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/** Pages of our own programs, with a text that no other program's has. They need neither a credential nor the database. */
const PAGES = {
  gateway: { path: '/openapi.json', says: '"title": "Mbongo"' },
  sandbox: { path: '/', says: 'Mbongo sandbox' },
} as const;

/** 5 s for an answer of the program that has the port: ours makes that page at its first request, on a busy machine in two. */
const ANSWER_WITHIN_MS = 5_000;

/** Whether a gateway, or the sandbox's networks, answer at an address. */
export async function isOurs({ host, port }: Address, program: keyof typeof PAGES): Promise<boolean> {
  const { path, says } = PAGES[program];
  try {
    return (await pageAt(`${listenUrl(host, port)}${path}`)).includes(says);
  } catch {
    // Another program may answer in another protocol, or not at all.
    return false;
  }
}

/** Not by `fetch`: in Node.js 20 it waits for ever, and keeps no process alive, if the other side closes a connection at once. */
async function pageAt(url: string): Promise<string> {
  const request = get(url, { agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  // Once the response has begun, its reader is told of errors.
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
}

/** `code`: the system's error code. */
export function listenProblem(code: string, { host, port, variable }: Address): string {
  if (code === 'EADDRINUSE') return `port ${port} is taken by another program: set ${variable} to a free one`;
  if (code === 'EACCES') return `this user may not listen on port ${port}: set ${variable} to 1024 or more`;
  // The address is not this machine's, so nothing is known about the port yet.
  return `cannot listen on ${host} on this machine (${code}): set HOST to one of its addresses`;
}

/** As `listenProblem`, for a gateway: the other program may be a gateway that was started before. */
export async function gatewayProblem(code: string, address: Address): Promise<string> {
  if (code !== 'EADDRINUSE' || !(await isOurs(address, 'gateway'))) return listenProblem(code, address);
  const { port, variable } = address;
  const another = `set ${variable} to a free port, and DATA_DIR or DATABASE_URL for data of its own`;
  return `Mbongo already answers at port ${port}: stop it, or ${another}`;
}
