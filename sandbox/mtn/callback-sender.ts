/**
 * Sends MTN's callbacks over HTTP.
 * Invariant: each body is sent once, unsigned and never retried (upstreams §1.5); the bodies of one request are sent in order.
 */
import { Agent, request } from 'undici';
import type { Faults } from '../control/faults.ts';
import type { Callback } from './collections.ts';

export type CallbackSender = {
  readonly send: (callback: Callback) => void;
  readonly close: () => Promise<void>;
};

/** PUT on even, POST on odd references: the last hexadecimal digit decides. */
export function methodFor(reference: string): 'PUT' | 'POST' {
  return Number.parseInt(reference.slice(-1), 16) % 2 === 0 ? 'PUT' : 'POST';
}

export function createCallbackSender(faults: Faults): CallbackSender {
  const agent = new Agent({
    connections: 64,
    connect: { timeout: 5_000 },
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  });

  const sendAll = async (callback: Callback, times: number) => {
    const method = methodFor(callback.reference);
    const headers = { 'content-type': 'application/json' };
    for (const body of callback.bodies) {
      for (let sent = 0; sent < times; sent += 1) {
        const answer = await request(callback.url, { dispatcher: agent, method, headers, body: JSON.stringify(body) });
        await answer.body.dump();
      }
    }
  };

  return {
    send: (callback) => {
      const times = faults.drawCallback('mtn');
      // A receiver that is away misses its callback, as with the real carrier: nothing is retried and nothing is logged.
      if (times > 0) sendAll(callback, times).catch(() => undefined);
    },
    close: () => agent.destroy(),
  };
}
