/**
 * An unreliable carrier that speaks MTN's wire format: its result changes, and its answers come when the test says.
 * No honest simulator does that; real carriers do.
 *
 * Invariant: it says only what the test told it to, about the order that was last sent to it.
 */

import { type Reply, startScriptedUpstream } from '../../src/connectors/testing/scripted-upstream.ts';

const ACCEPTED: Reply = { status: 202, body: '' };

export interface FickleCarrier {
  readonly url: string;
  /** The callback address of the last order. */
  callbackUrl(): string;
  /** The status, in MTN's terms, that inquiries are answered with from now on. */
  say(status: string): void;
  /** From now on it knows no order: inquiries are answered 404. */
  forget(): void;
  /** The next request to pay is answered only when the test says so; by default with 202. */
  holdNext(): HeldAnswer;
  close(): Promise<void>;
}

export interface HeldAnswer {
  /** Resolves when the request has arrived. */
  readonly asked: Promise<void>;
  answer(reply: Reply): void;
}

export async function openFickleCarrier(): Promise<FickleCarrier> {
  let callback = '';
  let order: Record<string, unknown> = {};
  let status = 'PENDING';
  let knows = true;
  let take = (): Reply | Promise<Reply> => ACCEPTED;
  const upstream = await startScriptedUpstream(({ method, path, headers, body }) => {
    if (path.includes('/token')) return { status: 200, body: '{"access_token":"token","expires_in":3600}' };
    if (method === 'GET' && !knows) return { status: 404, body: '{"code":"RESOURCE_NOT_FOUND"}' };
    if (method === 'GET') {
      return { status: 200, body: JSON.stringify({ ...order, status, reason: 'PAYER_LIMIT_REACHED' }) };
    }
    callback = String(headers['x-callback-url']);
    order = JSON.parse(body);
    return take();
  });
  return {
    url: upstream.url,
    callbackUrl: () => callback,
    say: (next) => {
      status = next;
    },
    forget: () => {
      knows = false;
    },
    holdNext() {
      let answer: HeldAnswer['answer'] = () => undefined;
      const reply = new Promise<Reply>((resolve) => {
        answer = resolve;
      });
      const asked = new Promise<void>((resolve) => {
        take = () => {
          take = () => ACCEPTED;
          resolve();
          return reply;
        };
      });
      return { asked, answer: (given) => answer(given) };
    },
    close: () => upstream.close(),
  };
}
