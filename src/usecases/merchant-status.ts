/**
 * Suspends a merchant, or allows it again.
 *
 * Invariant: once this is committed, every call of a suspended merchant is answered 1004; attempts in flight at upstreams are
 * still settled, because money that has moved must be known. A command takes effect once: it undoes none that came after it.
 */

import { revise } from '../domain/change.ts';
import { shardOf } from '../domain/ids.ts';
import type { Merchant, MerchantStatus } from '../domain/records.ts';
import type { OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { requireId, requireMerchant } from './operator-input.ts';

/** Setting the status that a merchant already has changes nothing. @throws OperatorError when there is no such merchant. */
export async function setMerchantStatus(
  deps: OperatorDeps,
  merchantId: string,
  status: MerchantStatus,
): Promise<Merchant> {
  requireId('mch', merchantId, 'merchant');
  return decideOnce(deps, shardOf(merchantId), 'see `mbongo merchant list`', async () => {
    const merchant = await requireMerchant(deps, merchantId);
    if (merchant.status === status) return { answer: merchant };
    const { update, after } = revise('merchant', merchant, { status });
    return { change: { updates: [update] }, answer: after };
  });
}
