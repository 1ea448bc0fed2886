/** Use cases called directly rather than over HTTP, because only a test can put something between two of their steps. */

import { sessionIdIn } from '../../src/domain/session-token.ts';
import type { Means, PaymentSubmitCommand } from '../../src/domain/submission.ts';
import type { SessionCaller } from '../../src/usecases/callers.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { PaymentCollectCommand } from '../../src/usecases/payment-collectable.ts';
import type { Answering } from '../../src/usecases/perform.ts';
import type { Paying } from './flows.ts';
import type { World } from './world.ts';

/** A minimal rendering, for calls of which only the refusal matters. */
export const plainly: Answering<unknown> = {
  receipt: undefined,
  render: () => ({ status: 200, body: '' }),
  renderRefusal: ({ http, code }) => ({ status: http, body: String(code) }),
};

type Owner = Pick<MerchantCreated, 'merchant'>;

/** The session that pays, in its state when the call is authenticated. */
export async function callerOf(world: World, owner: Owner, { transaction_id }: Paying): Promise<SessionCaller> {
  const payment = await world.gateway.store.payment.get(owner.merchant.shard, transaction_id);
  return callerIn(world, owner, payment?.session_id);
}

/** The same of a session of which only the token is known. */
export async function callerBy(world: World, owner: Owner, token: string): Promise<SessionCaller> {
  return callerIn(world, owner, sessionIdIn(token));
}

async function callerIn(world: World, owner: Owner, sessionId: string | undefined): Promise<SessionCaller> {
  const { store } = world.gateway;
  const { shard, id } = owner.merchant;
  const session = sessionId === undefined ? undefined : await store.session.caller(shard, sessionId);
  const merchant = await store.merchant.get(shard, id);
  if (session === undefined || merchant === undefined) throw new Error('the session is gone');
  return { kind: 'session', merchant, session, fingerprint: undefined };
}

/** A submit by these means. */
export function submitOf({ payment_id }: Paying, means: Means): PaymentSubmitCommand {
  return { payment_id, means };
}

/** A collect that sends a token of Google Pay, which the network would approve. */
export const BY_TOKEN: PaymentCollectCommand = {
  method: 'google_pay',
  fee_covered_by: 'merchant',
  delivery_behaviour: 'direct_delivery',
  notify_url: undefined,
  success_redirect_url: undefined,
  fail_redirect_url: undefined,
  amount: undefined,
  currency: undefined,
  transactional_currency: undefined,
  customer_reference: undefined,
  language: 'en',
  page: 'none',
  native_pay_token: 'tok_approved',
};

/** Paying from that wallet. */
export function meansOf({ number, pin }: { readonly number: string; readonly pin: string }): Means {
  return { method: 'wallet', number, pin, numberField: 'ewallet_number', pinField: 'ewallet_pin' };
}

/** The same parts for a submit from a wallet, which reads its rows once for the PIN: something happens before it reads them again. */
export function oncePinIsJudged(deps: Deps, happens: () => unknown): Deps {
  const { store } = deps;
  let reads = 0;
  const caller: typeof store.session.caller = async (...key) => {
    reads += 1;
    if (reads === 2) await happens();
    return store.session.caller(...key);
  };
  return { ...deps, store: { ...store, session: { ...store.session, caller } } };
}
