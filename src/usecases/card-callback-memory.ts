/**
 * The memory of a callback: what it was answered, kept where the answers to Idempotency-Keys are.
 *
 * Invariant: of several runs of one callback one writes the answer, and only the one that has begun writes over that.
 */

import type { IdempotencyRecord, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import type { Memory, Receipt, Reply } from './perform.ts';

/** The status of a run that has begun and has no answer yet, as for Idempotency-Keys. */
const BEGUN = 102;

/** `identity` is everything that makes this callback another one than the next. */
export function callbackReceipt(
  deps: Pick<Deps, 'secrets' | 'store' | 'clock'>,
  payment: Pick<Payment, 'shard' | 'id'>,
  identity: readonly string[],
): Receipt {
  const { secrets, store, clock } = deps;
  const { shard } = payment;
  const ids = secrets.macs('idempotency_key', 'card_callback', payment.id, ...identity);
  const id = ids[0] ?? '';
  let known: IdempotencyRecord | undefined;

  const write = (status: number, body: string): Memory => {
    const row = { request_hash: known?.id ?? id, status, body, created_at: clock.now() };
    if (known !== undefined) {
      return { updates: [{ table: 'idempotency', shard, id: known.id, version: known.version, row }] };
    }
    return { claims: [{ table: 'idempotency', row: { shard, id, version: 1, ...row } }] };
  };

  return {
    async stored() {
      const found = await Promise.all(ids.map((one) => store.idempotency.get(shard, one)));
      known = found.find((record) => record !== undefined);
      return known === undefined || known.status === BEGUN ? undefined : openReply(known);
    },
    begun: () => known?.status === BEGUN,
    begin: () => write(BEGUN, ''),
    remember: ({ status, body, location }) =>
      write(status, secrets.seal('idempotency_body', JSON.stringify({ body, location }), known?.id ?? id)),
  };

  function openReply(record: IdempotencyRecord): Reply {
    const text = secrets.open('idempotency_body', record.body, record.id);
    if (text === undefined) throw new Error('a remembered callback cannot be opened');
    // What opens is what `remember` sealed.
    const { body, location } = JSON.parse(text) as { body: string; location?: string };
    return { status: record.status, body, ...(location === undefined ? {} : { location }) };
  }
}
