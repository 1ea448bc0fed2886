/**
 * A carrier that turns calls away and has taken them all the same: real HTTP in MTN MoMo's words, said as a test tells it.
 *
 * Invariant: it knows an order by the reference under which it came.
 */

import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '../../src/connectors/scripted-upstream.ts';

/** An order's status, or that it cannot be told just now, or that there is no such order. */
export type Said = 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'cannot_tell' | 'not_found';

export interface WaveringCarrier {
  readonly url: string;
  /** How the next calls for money are answered; 202 after these. */
  answer(...replies: readonly (Reply | (() => Promise<Reply>))[]): void;
  /** What happens before the next question about that order is answered. */
  beforeWordOf(reference: string, happens: () => Promise<void>): void;
  /** How many questions about these orders have come: the gateway's rounds ask about others. */
  asked(references: readonly string[]): number;
  /** What it says of an order from now on; `not_found` at first. */
  say(reference: string, said: Said): void;
  close(): Promise<void>;
}

export async function openWaveringCarrier(): Promise<WaveringCarrier> {
  const orders = new Map<string, Record<string, unknown>>();
  const said = new Map<string, Said>();
  const replies: (Reply | (() => Promise<Reply>))[] = [];
  const questions = new Map<string, number>();
  const before = new Map<string, () => Promise<void>>();
  const upstream: ScriptedUpstream = await startScriptedUpstream(async ({ method, path, headers, body }) => {
    if (path.includes('/token')) return { status: 200, body: '{"access_token":"token","expires_in":36000}' };
    const reference = String(headers['x-reference-id'] ?? path.split('/').at(-1));
    if (method === 'POST') {
      orders.set(reference, JSON.parse(body));
      const reply = replies.shift() ?? { status: 202, body: '' };
      return typeof reply === 'function' ? reply() : reply;
    }
    questions.set(reference, (questions.get(reference) ?? 0) + 1);
    const happens = before.get(reference);
    before.delete(reference);
    await happens?.();
    const word = said.get(reference) ?? 'not_found';
    if (word === 'not_found') return { status: 404, body: '{"code":"RESOURCE_NOT_FOUND"}' };
    if (word === 'cannot_tell') return { status: 500, body: '' };
    return { status: 200, body: JSON.stringify({ ...orders.get(reference), status: word }) };
  });
  return {
    url: upstream.url,
    answer: (...more) => void replies.push(...more),
    beforeWordOf: (reference, happens) => void before.set(reference, happens),
    asked: (references) => references.reduce((sum, one) => sum + (questions.get(one) ?? 0), 0),
    say: (reference, word) => void said.set(reference, word),
    close: () => upstream.close(),
  };
}
