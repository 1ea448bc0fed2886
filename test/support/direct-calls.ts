/** Use cases called directly rather than over HTTP, because only a test can put something between two of their steps. */

import type { Means, PaymentSubmitCommand } from '../../src/domain/submission.ts';
import type { SessionCaller } from '../../src/usecases/callers.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { Answering } from '../../src/usecases/perform.ts';
import type { Paying } from './flows.ts';
import type { World } from './world.ts';

/** A minimal rendering, for calls of which only the refusal matters. */
export const plainly: Answering<unknown> = {
  receipt: undefined,
  render: () => ({ status: 200, body: '' }),
  renderRefusal: ({ http, code }) => ({ status: http, body: String(code) }),
};

/** The session that pays, in its state when the call is authenticated. */
export async function callerOf(
  world: World,
  { merchant }: Pick<MerchantCreated, 'merchant'>,
  { transaction_id }: Paying,
): Promise<SessionCaller> {
  const { store } = world.gateway;
  const { shard, id } = merchant;
  const payment = await store.payment.get(shard, transaction_id);
  const session = payment && (await store.session.caller(shard, payment.session_id));
  const owner = await store.merchant.get(shard, id);
  if (session === undefined || owner === undefined) throw new Error('the session is gone');
  return { kind: 'session', merchant: owner, session, fingerprint: undefined };
}

/** A submit by these means. */
export function submitOf({ payment_id }: Paying, means: Means): PaymentSubmitCommand {
  return { payment_id, means };
}

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
