/**
 * Closes a bank account: no further payment can choose it.
 *
 * Invariant: payments that chose the account before keep it, and their proofs are still decided.
 */

import { revise } from '../domain/change.ts';
import { shardOf } from '../domain/ids.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import type { OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireId } from './operator-input.ts';

/** Closes the account; a closed one stays as it is. @throws OperatorError when there is no such account. */
export async function closeBankAccount(deps: OperatorDeps, accountId: string): Promise<BankAccount> {
  requireId('bka', accountId, 'bank account');
  const shard = shardOf(accountId);
  return commitDecisionKnown(
    deps,
    () => deps.store.bankAccount.get(shard, accountId),
    (account) => {
      if (account === undefined) {
        throw new OperatorError(`there is no bank account ${accountId}: see \`mbongo bank list\``);
      }
      if (account.status === 'CLOSED') return { answer: account };
      const { update, after } = revise('bank_account', account, { status: 'CLOSED' });
      return { change: { updates: [update] }, answer: after };
    },
    'see `mbongo bank list`',
  );
}
