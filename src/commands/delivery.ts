/**
 * `mbongo delivery`: releases the money of a delayed delivery.
 */

import { formatMinor } from '../domain/money.ts';
import { releaseForOperator } from '../usecases/delivery-release.ts';
import { type Output, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * Makes the held money of a payment available to its merchant (contract §4):
 * `{transaction_id, status, amount, currency, released_at}`. A repeated release answers as the first did.
 *
 * @throws OperatorError when there is no such payment, or nothing of it is held.
 */
export async function deliveryRelease({ deps }: Tools, transactionId: string): Promise<Output> {
  const { payment, amountMinor, releasedAt } = await releaseForOperator(deps, transactionId);
  const { id, status, currency } = payment;
  const amount = formatMinor(amountMinor, currency);
  const released_at = timeOf(releasedAt);
  return {
    document: { transaction_id: id, status, amount, currency, released_at },
    lines: [`${id}  ${amount} ${currency} released at ${released_at}`],
  };
}
