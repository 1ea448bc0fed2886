/**
 * Sends MTN's callbacks over HTTP.
 * Invariant: each body is sent once, unsigned and never retried (upstreams §1.5); the bodies of one request are sent in order.
 */
import { Agent, type Dispatcher } from 'undici';
import type { Faults } from '../control/faults.ts';
import type { Callback } from './movements.ts';

export type CallbackSender = {
  readonly send: (callback: Callback) => void;
  readonly close: () => Promise<void>;
};

/** PUT for even references, POST for odd ones: the last hexadecimal digit decides. */
function methodFor(reference: string): 'PUT' | 'POST' {
  return Number.parseInt(reference.slice(-1), 16) % 2 === 0 ? 'PUT' : 'POST';
}

const HEADERS = { 'content-type': 'application/json' };

/** Resolves on any answer, whatever its status. Kept minimal, because it is in the path of load tests. */
function sendOnce(agent: Agent, options: Dispatcher.DispatchOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    agent.dispatch(options, {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(),
      onResponseError: (_, error) => reject(error),
    });
  });
}

export function createCallbackSender(faults: Faults): CallbackSender {
  const agent = new Agent({
    connections: 256,
    connect: { timeout: 5_000 },
    headersTimeout: 10_000,
    bodyTimeout: 10_000,
  });

  const sendAll = async ({ url, reference, bodies }: Callback, times: number) => {
    const { origin, pathname, search } = new URL(url);
    const target = { origin, path: pathname + search, method: methodFor(reference), headers: HEADERS };
    for (const body of bodies) {
      for (let sent = 0; sent < times; sent += 1) await sendOnce(agent, { body, ...target });
    }
  };

  return {
    send: (callback) => {
      const times = faults.drawCallback('mtn');
      // A receiver that is down misses its callback, as with the real carrier: nothing is retried and nothing is logged.
      if (times > 0) sendAll(callback, times).catch(() => undefined);
    },
    close: () => agent.destroy(),
  };
}
