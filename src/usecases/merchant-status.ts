/**
 * Suspends a merchant, or allows it again.
 *
 * Invariant: once this is committed, every call of a suspended merchant is answered 1004; attempts in flight at upstreams are
 * still settled, because money that has moved must be known.
 */

import { revise } from '../domain/change.ts';
import type { Merchant, MerchantStatus } from '../domain/records.ts';
import type { OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { requireMerchant } from './operator-input.ts';

/** Setting the status that a merchant already has changes nothing. @throws OperatorError when there is no such merchant. */
export function setMerchantStatus(deps: OperatorDeps, merchantId: string, status: MerchantStatus): Promise<Merchant> {
  return commitDecisionKnown(
    deps,
    () => requireMerchant(deps, merchantId),
    (merchant) => {
      if (merchant.status === status) return { answer: merchant };
      const { update, after } = revise('merchant', merchant, { status });
      return { change: { updates: [update] }, answer: after };
    },
    'see `mbongo merchant list`',
  );
}
