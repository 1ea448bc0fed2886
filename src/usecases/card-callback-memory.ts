/**
 * The memory of a callback: the reply to it, kept where the replies to Idempotency-Keys are.
 *
 * Invariant: of several runs of one callback one writes the reply, in place of the mark if the callback was marked as begun.
 */

import { guardedUpdate } from '../domain/change.ts';
import type { IdempotencyRecord, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import { BEGUN, keepUnderKeys } from './key-memory.ts';
import type { Memory, Receipt, Reply } from './perform.ts';

/** `identity`: all values that tell this callback from any other. */
export function callbackReceipt(
  deps: Pick<Deps, 'secrets' | 'store' | 'clock'>,
  payment: Pick<Payment, 'shard' | 'id'>,
  identity: readonly string[],
): Receipt {
  const { secrets, store, clock } = deps;
  const { shard } = payment;
  const ids = secrets.macs('idempotency_key', 'card_callback', payment.id, ...identity);
  let found: readonly (IdempotencyRecord | undefined)[] = [];
  let known: IdempotencyRecord | undefined;

  const write = (status: number, bodyFor: (id: string, at: number) => string): Memory => {
    const rowOf = (id: string, at: number) => ({
      request_hash: id,
      status,
      body: bodyFor(id, at),
      created_at: clock.now(),
    });
    return keepUnderKeys(ids, found, {
      claim: (id, at) => ({ table: 'idempotency', row: { shard, id, version: 1, ...rowOf(id, at) } }),
      update: (record, at) => guardedUpdate('idempotency', record, rowOf(record.id, at)),
    });
  };

  return {
    async stored() {
      found = await Promise.all(ids.map((one) => store.idempotency.get(shard, one)));
      // A reply takes precedence over a mark: a process that lacks one of the keys has written its reply under the other alone.
      known = found.find((record) => record !== undefined && record.status !== BEGUN) ?? found.find(Boolean);
      return known === undefined || known.status === BEGUN ? undefined : openReply(known);
    },
    begun: () => known?.status === BEGUN,
    begin: () => write(BEGUN, () => ''),
    remember({ status, body, location }) {
      // Sealed with the key that made the id, so that a process that finds it can open it. It adds nothing to the payment's row.
      const text = JSON.stringify({ body, location });
      return write(status, (id, at) => secrets.seal('idempotency_body', text, id, at));
    },
  };

  function openReply(record: IdempotencyRecord): Reply {
    const text = secrets.open('idempotency_body', record.body, record.id);
    if (text === undefined) throw new Error('a remembered callback cannot be opened');
    // Only `remember` can have sealed what opens.
    const { body, location } = JSON.parse(text) as { body: string; location?: string };
    return { status: record.status, body, ...(location === undefined ? {} : { location }) };
  }
}
