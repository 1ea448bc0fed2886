/**
 * The memory of a callback: the reply to it, kept where the replies to Idempotency-Keys are.
 *
 * Invariant: one of several runs of one callback writes the reply, in place of the mark if the callback was marked as begun.
 */

import type { IdempotencyRecord, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import type { Memory, Receipt, Reply } from './perform.ts';
import { BEGUN, decidingRecord, keepRun, openReply, sealReply } from './reply-memory.ts';

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

  const write = (status: number, bodyFor: (id: string, at: number) => string): Memory =>
    keepRun(shard, ids, found, (id, at) => ({
      request_hash: id,
      status,
      body: bodyFor(id, at),
      created_at: clock.now(),
    }));

  return {
    async stored() {
      found = await Promise.all(ids.map((one) => store.idempotency.get(shard, one)));
      known = decidingRecord(found);
      return known === undefined || known.status === BEGUN ? undefined : replyIn(known);
    },
    begun: () => known?.status === BEGUN,
    begin: () => write(BEGUN, () => ''),
    remember({ status, body, location }) {
      const text = JSON.stringify({ body, location });
      return write(status, (id, at) => sealReply(secrets, text, id, at));
    },
  };

  function replyIn(record: IdempotencyRecord): Reply {
    // Only `remember` can have sealed what opens.
    const { body, location } = JSON.parse(openReply(secrets, record)) as { body: string; location?: string };
    return { status: record.status, body, ...(location === undefined ? {} : { location }) };
  }
}
