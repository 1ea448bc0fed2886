/**
 * A carrier that refuses calls but has taken them all the same: real HTTP in MTN MoMo's format, answering as a test tells it to.
 *
 * Invariant: it knows an order by the reference under which it arrived, and calls one that has succeeded by a name of its own.
 */

import {
  type Reply,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../src/connectors/testing/scripted-upstream.ts';

/** The answer by which a carrier turns a call for money away. */
export const TURNED_AWAY: Reply = { status: 503, body: '' };

/** An order's status, or that the carrier cannot tell it now, or that there is no such order. */
export type Said = 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'cannot_tell' | 'not_found';

export interface WaveringCarrier {
  readonly url: string;
  /** How the next calls for money are answered; those after them get 202. */
  answer(...replies: readonly (Reply | (() => Promise<Reply>))[]): void;
  /** Whether a call for money has come under this reference, however it was answered. */
  wasCalled(reference: string): boolean;
  /** Runs `happens` before the next inquiry about that order is answered. */
  beforeWordOf(reference: string, happens: () => Promise<void>): void;
  /** How many inquiries about these orders have come; the gateway's rounds also inquire about others. */
  asked(references: readonly string[]): number;
  /** The answer to inquiries about an order from now on; `not_found` at first. */
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
    const named = word === 'SUCCESSFUL' ? { financialTransactionId: `F-${reference}` } : {};
    return { status: 200, body: JSON.stringify({ ...orders.get(reference), ...named, status: word }) };
  });
  return {
    url: upstream.url,
    answer: (...more) => void replies.push(...more),
    wasCalled: (reference) => orders.has(reference),
    beforeWordOf: (reference, happens) => void before.set(reference, happens),
    asked: (references) => references.reduce((sum, one) => sum + (questions.get(one) ?? 0), 0),
    say: (reference, word) => void said.set(reference, word),
    close: () => upstream.close(),
  };
}
