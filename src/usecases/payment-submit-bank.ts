/**
 * Submits by bank transfer: fixes the account that it goes to, and gives the customer seven days to upload the proof.
 *
 * Invariant: no money moves here. The submit consumes the session, so that the customer does not pay the same order twice
 * while the transfer is on its way.
 */

import { isId } from '../domain/ids.ts';
import { advancePayment } from '../domain/payment.ts';
import { PROOF_LIFE_MS } from '../domain/proof.ts';
import type { Payment, Session } from '../domain/records.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import { consumeSession } from '../domain/settlement.ts';
import {
  methodColumns,
  requireMine,
  requireSubmittable,
  type Submitted,
  type TransferMeans,
} from '../domain/submission.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import type { SessionCaller } from './callers.ts';
import { type Deps, idsOf } from './deps.ts';
import type { FoundSubmit } from './payment-submit-found.ts';
import { type Decision, perform, type Reply } from './perform.ts';
import { readSessionPayments } from './session-payments.ts';

interface Rows {
  readonly session: Session | undefined;
  readonly payment: Payment | undefined;
  readonly account: BankAccount | undefined;
  readonly sessionPayments: readonly Payment[];
}

/**
 * Fixes the account that the customer transfers to, and consumes the session. The payment becomes `pendingBankProofUpload`
 * and expires seven days later without a proof (contract §4).
 *
 * @throws Refusal 1110 for an account that is not open to this payment; 1202 when the
 * amount is out of limits; and as `requireSubmittable`, for the session and the payment.
 */
export async function submitByTransfer(
  deps: Deps,
  { caller, payment, answering }: FoundSubmit,
  { accountId }: TransferMeans,
): Promise<Reply> {
  return perform(
    deps.store,
    answering,
    () => readRows(deps, caller, payment.id, accountId),
    (rows) => decide(deps, caller, rows),
  );
}

async function readRows(deps: Deps, caller: SessionCaller, paymentId: string, accountId: string): Promise<Rows> {
  const { shard, id } = caller.session;
  const [session, payment, account] = await Promise.all([
    deps.store.session.caller(shard, id),
    deps.store.payment.get(shard, paymentId),
    isId('bka', accountId) ? deps.store.bankAccount.get(shard, accountId) : undefined,
  ]);
  return { session, payment, account, sessionPayments: await readSessionPayments(deps, session) };
}

function decide(deps: Deps, caller: SessionCaller, rows: Rows): Decision<Submitted> {
  const now = deps.clock.now();
  const { session, sessionPayments } = rows;
  if (session === undefined) throw new Refusal(1001);
  const payment = requireMine(rows.payment, session);
  requireSubmittable(session, payment, now);
  const account = requireAccount(rows.account, payment);
  const columns = {
    ...methodColumns(payment, caller.merchant, 'bank_transfer'),
    bank_account_id: account.id,
    submitted_at: now,
    expires_at: now + PROOF_LIFE_MS,
  };
  const moved = advancePayment(payment, 'transfer_promised', null, now, columns);
  const consumed = consumeSession({ payment, sessionPayments }, session, { now, newId: idsOf(deps) });
  return {
    change: { updates: [moved.update, ...consumed.updates], inserts: [moved.history, ...consumed.inserts] },
    answer: { payment: moved.payment, bankAccount: account },
  };
}

/** An unknown account, a closed one, another merchant's and one in another currency are refused alike. */
function requireAccount(account: BankAccount | undefined, payment: Payment): BankAccount {
  const fits =
    account?.merchant_id === payment.merchant_id &&
    account.status === 'ACTIVE' &&
    account.currency === payment.currency;
  if (fits) return account;
  throw refuseField(1110, 'bank_account_id', 'UNKNOWN_BANK_ACCOUNT');
}
