/**
 * A gate in front of the carriers: while it is shut, requests for money wait at it, so that a test knows that they are
 * in flight and decides when they continue.
 *
 * Invariant: requests pass unchanged; one whose caller has left never reaches the carrier.
 */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Gate {
  /** The environment that makes a gateway call the carriers through the gate. */
  readonly env: { readonly MTN_MOMO_BASE_URL: string };
  /** Requests for money that come from now on wait. */
  shut(): void;
  /** Resolves when `count` requests have come since it was shut. */
  came(count: number): Promise<void>;
  /** Lets the waiting requests continue, and later ones pass. */
  open(): void;
  close(): Promise<void>;
}

/** Opens a gate to the carriers of that sandbox. */
export async function openGate(sandboxUrl: string): Promise<Gate> {
  let waiting: (() => void)[] | undefined;
  let come = { count: 0, enough: Number.POSITIVE_INFINITY, wake: (): void => undefined };

  const server = createServer((incoming, outgoing) => {
    const pass = (): void => {
      if (outgoing.destroyed) return;
      const { method, headers, url = '/' } = incoming;
      const onward = request(`${sandboxUrl}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    };
    const isForMoney = incoming.method === 'POST' && incoming.headers['x-reference-id'] !== undefined;
    if (waiting === undefined || !isForMoney) return pass();
    waiting.push(pass);
    come.count += 1;
    if (come.count >= come.enough) come.wake();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    env: { MTN_MOMO_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mtn` },
    shut() {
      waiting = [];
      come = { count: 0, enough: Number.POSITIVE_INFINITY, wake: () => undefined };
    },
    came: (enough) =>
      new Promise((wake) => {
        come = { ...come, enough, wake };
        if (come.count >= enough) wake();
      }),
    open() {
      const passing = waiting ?? [];
      waiting = undefined;
      for (const pass of passing) pass();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
