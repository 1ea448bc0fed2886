/**
 * Suspends a merchant, or allows it again.
 *
 * Invariant: from the moment it is committed, every call of a suspended merchant answers 1004; what is under way at
 * upstreams is still settled, because money that moved must be known.
 */

import type { Merchant, MerchantStatus } from '../domain/records.ts';
import { commitDecisionKnown, type OperatorDeps, requireMerchant } from './operator.ts';

/** @throws OperatorError when there is no such merchant. Setting the status that it has changes nothing. */
export function setMerchantStatus(deps: OperatorDeps, merchantId: string, status: MerchantStatus): Promise<Merchant> {
  return commitDecisionKnown(
    deps,
    () => requireMerchant(deps, merchantId),
    (merchant) => {
      if (merchant.status === status) return { answer: merchant };
      const { shard, id, version } = merchant;
      return {
        change: { updates: [{ table: 'merchant', shard, id, version, row: { status } }] },
        answer: { ...merchant, status, version: version + 1 },
      };
    },
    'see `mbongo merchant list`',
  );
}
