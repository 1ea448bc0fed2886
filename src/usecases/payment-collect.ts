/**
 * Starts a payment on a session: checks it against the binding, computes the fee, and writes it as `pending`.
 *
 * Invariant: the session counts its payments, so that the submit that consumes it can end the others.
 */

import { merged } from '../domain/change.ts';
import { isNative } from '../domain/method.ts';
import type { Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { updateSession } from '../domain/session.ts';
import { sessionAsTold } from './acceptances.ts';
import type { SessionCaller } from './callers.ts';
import { openForm } from './card-form.ts';
import { makePage, type PageNow, readPageNow } from './checkout-make.ts';
import { cachedFirst, type Deps, newId } from './deps.ts';
import { bankAccountsFor, offeredFor, offeredWith } from './method-reach.ts';
import { collectByToken } from './native-pay.ts';
import {
  type Collect,
  type Collected,
  newPayment,
  type PaymentCollectCommand,
  requireCollectable,
} from './payment-collectable.ts';
import { type Answering, perform, type Reply, refusalOf, refuse } from './perform.ts';

/**
 * Writes a `pending` payment on the session: for `card` with the network's form, and with a hosted page if one is wanted.
 * Google Pay and Apple Pay are paid at once, and so consume the session (specification, Endpoints, rules 1 and 2; contract §3,
 * §4).
 *
 * @throws Refusal 1101, 1102 or 1103 for what differs from the binding; 1110 for an address; 1103 for a method that is not
 * offered; 1001 or 1005 when the session is not open; 1003 when its scope is payouts; 1301 when it has too many payments;
 * 1202 when an amount is out of limits; 1203 when Google Pay or Apple Pay finds the session held by a submit; 1404 when the
 * network opened no form, or cannot say what became of an earlier payment of the session before a token is sent; 1110 when such a
 * payment was paid too late to count.
 */
export async function collectPayment(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentCollectCommand,
  answering: Answering<Collected>,
): Promise<Reply> {
  const { session, merchant } = caller;
  const { method } = command;
  const collect: Collect = {
    deps,
    merchant,
    command,
    id: newId(deps, 'txn', session.shard),
    page: makePage(deps, command.page, session.shard),
    ...(await methodsFor(deps, caller, method)),
  };
  if (isNative(method)) return collectByToken(collect, session, method, answering);
  const form = method === 'card' ? await formFor(collect, session, answering) : undefined;
  if (form !== undefined && 'status' in form) return form;
  const { page, onlyAccount } = collect;
  return perform(deps.store, answering, rowsOf(collect, session), (rows) => {
    // The customer started again twice: the page shows the payment that the first request made.
    if (rows.shown.leadsTo !== undefined) return { answer: { payment: rows.shown.leadsTo } };
    if (rows.session === undefined) throw new Refusal(1001);
    const now = deps.clock.now();
    requireCollectable(collect, rows.session, now);
    const payment = { ...newPayment(collect, rows.session, now), hosted_session_id: form?.sessionId ?? null };
    const counted = updateSession(rows.session, { payments: rows.session.payments + 1 });
    return {
      change: merged(
        { updates: [counted], inserts: [{ table: 'payment', row: payment }] },
        page.writes(payment, rows.session, now, rows.shown.checkout),
      ),
      answer: { payment, pageUrl: page.url, onlyAccount },
    };
  });
}

/** The methods that the merchant offers, read as far as `method` needs; for a bank transfer also its account, if only one. */
async function methodsFor(
  deps: Deps,
  { merchant, session: { currency } }: SessionCaller,
  method: PaymentCollectCommand['method'],
): Promise<Pick<Collect, 'offered' | 'onlyAccount'>> {
  if (method === 'none') return { offered: [] };
  if (method !== 'bank_transfer') return { offered: await offeredFor(deps, merchant, currency, method) };
  const accounts = await bankAccountsFor(deps, merchant, currency);
  const [first, second] = accounts;
  return {
    offered: offeredWith(deps, merchant, currency, accounts),
    onlyAccount: second === undefined ? first : undefined,
  };
}

interface Rows {
  readonly session: Session | undefined;
  readonly shown: PageNow;
}

/** Reads session and open page; the first time they are as the caller has them. */
function rowsOf({ deps, command: { page } }: Collect, session: Session): () => Promise<Rows> {
  const read = async (): Promise<Rows> => {
    const [fresh, shown] = await Promise.all([sessionAsTold(deps, session.shard, session.id), readPageNow(deps, page)]);
    return { session: fresh, shown };
  };
  const checkout = page !== 'none' && 'led' in page ? page.led : undefined;
  return cachedFirst({ session, shown: { checkout, leadsTo: undefined } }, read);
}

/** Opens the card network's form before the payment is written, if it may be; or returns the remembered reply. */
async function formFor(
  collect: Collect,
  session: Session,
  answering: Answering<Collected>,
): Promise<Reply | { readonly sessionId: string }> {
  const stored = await answering.receipt?.stored();
  if (stored !== undefined) return stored;
  const { deps } = collect;
  const now = deps.clock.now();
  const refused = refusalOf(() => requireCollectable(collect, session, now));
  if (refused !== undefined) return refuse(deps.store, answering, refused);
  return { sessionId: await openForm(deps, newPayment(collect, session, now)) };
}
