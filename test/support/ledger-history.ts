/**
 * Histories for statements: transfers of a merchant's accounts, committed as the service commits them, at any time.
 *
 * Invariant: exactly what is written is returned, so that a test can say what a statement must show.
 */

import type { Transfer } from '../../src/domain/change.ts';
import type { Currency } from '../../src/domain/currency.ts';
import { makeId } from '../../src/domain/ids.ts';
import { floatAccount, type MerchantAccount, merchantAccount } from '../../src/domain/ledger.ts';
import type { Merchant } from '../../src/domain/records.ts';
import type { TransferCause } from '../../src/domain/transfer-cause.ts';
import type { OperatorDeps } from '../../src/usecases/deps.ts';
import { commitOnce } from '../../src/usecases/operator-commit.ts';

let made = 0;

/** One movement between two of a merchant's balances, or between one of them and the outside. */
export interface Movement {
  readonly from: MerchantAccount | 'outside';
  readonly to: MerchantAccount | 'outside';
  readonly minor: bigint;
  readonly at: number;
  readonly cause?: TransferCause;
  readonly causeId?: string;
  readonly currency?: Currency;
}

function transferOf({ id, shard }: Pick<Merchant, 'id' | 'shard'>, movement: Movement): Transfer {
  const { from, to, minor, at, cause = 'payment', causeId = 'txn_of_nobody', currency = 'usd' } = movement;
  const accountOf = (what: MerchantAccount | 'outside') =>
    what === 'outside' ? floatAccount(shard, currency) : merchantAccount(id, what, currency);
  made += 1;
  const chance = new Uint8Array(16);
  new DataView(chance.buffer).setUint32(9, made);
  return {
    shard,
    id: makeId('trf', at, chance, shard),
    debit: accountOf(from),
    credit: accountOf(to),
    amount_minor: minor,
    currency,
    cause,
    cause_id: causeId,
    at,
  };
}

/** Commits movements in order, a thousand per change. */
export async function write(
  deps: Pick<OperatorDeps, 'store' | 'clock'>,
  merchant: Pick<Merchant, 'id' | 'shard'>,
  movements: readonly Movement[],
): Promise<Transfer[]> {
  const transfers = movements.map((movement) => transferOf(merchant, movement));
  for (let at = 0; at < transfers.length; at += 1_000) {
    const some = transfers.slice(at, at + 1_000);
    const outcome = await commitOnce(deps, merchant.shard, some[0]?.id ?? '', { transfers: some });
    if (outcome === 'lost') throw new Error('a history that takes more than there is');
  }
  return transfers;
}
