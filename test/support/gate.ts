/**
 * A gate in front of the carriers: while it is shut, requests for money wait at it, so that a test knows that they are
 * in flight and decides when they continue.
 *
 * Invariant: requests pass unchanged, also one whose caller has left meanwhile, as does a request that is on its way.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from './listening.ts';

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

  const admit = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method, headers, url = '/' } = incoming;
    // Read before it waits: its caller may have left when it passes.
    const body = await buffer(incoming);
    const pass = (): void => {
      const onward = request(`${sandboxUrl}${url}`, { method, headers }, (answer) => {
        if (outgoing.destroyed) return void answer.resume();
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      onward.end(body);
    };
    const isForMoney = method === 'POST' && headers['x-reference-id'] !== undefined;
    if (waiting === undefined || !isForMoney) return pass();
    waiting.push(pass);
    come.count += 1;
    if (come.count >= come.enough) come.wake();
  };
  const server = createServer((incoming, outgoing) => {
    admit(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    env: { MTN_MOMO_BASE_URL: `http://127.0.0.1:${portOf(server)}/mtn` },
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
