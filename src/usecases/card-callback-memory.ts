/**
 * The memory of a callback: the reply to it, kept where the replies to Idempotency-Keys are.
 *
 * Invariant: one of several runs of one callback writes the reply, in place of the mark if the callback was marked as begun.
 */

import type { IdempotencyRecord, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import type { Memory, Receipt, Reply } from './perform.ts';
import { BEGUN, decidingRecord, keepRun, openReply, sealReply } from './reply-memory.ts';
import { hasFields, isText, readStored } from './stored-json.ts';

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
    const kept = readStored(openReply(secrets, record), isKept);
    if (kept === undefined)
      throw new Error('a remembered reply has another shape: another version may have written it');
    const { body, location } = kept;
    return { status: record.status, body, ...(location === undefined ? {} : { location }), replayed: true };
  }
}

/** What is sealed of a reply. */
type Kept = Pick<Reply, 'body' | 'location'>;

function isKept(value: unknown): value is Kept {
  return hasFields(value) && isText(value.body) && (value.location === undefined || isText(value.location));
}
