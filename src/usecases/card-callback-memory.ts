/**
 * The memory of a callback: what it was answered, kept where the answers to Idempotency-Keys are.
 *
 * Invariant: of several runs of one callback one writes the answer, and only the one that has begun writes over that.
 */

import type { IdempotencyRecord, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import { BEGUN, keepUnderKeys } from './key-memory.ts';
import type { Memory, Receipt, Reply } from './perform.ts';

/** `identity` is everything that makes this callback another one than the next. */
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
      update: ({ id, version }, at) => ({ table: 'idempotency', shard, id, version, row: rowOf(id, at) }),
    });
  };

  return {
    async stored() {
      found = await Promise.all(ids.map((one) => store.idempotency.get(shard, one)));
      // An answer before a beginning: whoever lacks one of the keys has answered under the other alone.
      known = found.find((record) => record !== undefined && record.status !== BEGUN) ?? found.find(Boolean);
      return known === undefined || known.status === BEGUN ? undefined : openReply(known);
    },
    begun: () => known?.status === BEGUN,
    begin: () => write(BEGUN, () => ''),
    remember({ status, body, location }) {
      // By the key that made the id: whoever finds it opens it. The answer holds nothing that the payment's row does not.
      const text = JSON.stringify({ body, location });
      return write(status, (id, at) => secrets.seal('idempotency_body', text, id, at));
    },
  };

  function openReply(record: IdempotencyRecord): Reply {
    const text = secrets.open('idempotency_body', record.body, record.id);
    if (text === undefined) throw new Error('a remembered callback cannot be opened');
    // What opens is what `remember` sealed.
    const { body, location } = JSON.parse(text) as { body: string; location?: string };
    return { status: record.status, body, ...(location === undefined ? {} : { location }) };
  }
}
