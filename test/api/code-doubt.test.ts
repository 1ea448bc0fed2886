/**
 * The commit that asks for a one-time code loses its answer: the text is sent if it took effect, once, and not otherwise.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import { UNCOUNTED } from '../../src/usecases/code-calls.ts';
import { resendCode } from '../../src/usecases/code-resend.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { callerOf, meansOf, plainly, submitOf } from '../support/direct-calls.ts';
import { codeOn, collect, type Paying, phoneState, statusOf } from '../support/flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let phones = 0;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

/** Loses the answer of every commit of a code, be it that it takes effect or not. */
function losing(takesEffect: boolean): Deps {
  const { deps } = world.gateway;
  const ofCode = (change: Change): boolean =>
    [...(change.claims ?? []), ...(change.updates ?? [])].some(({ table }) => table === 'one_time_code');
  const commit: Deps['store']['commit'] = async (change) => {
    if (!ofCode(change)) return deps.store.commit(change);
    if (takesEffect) expect(await deps.store.commit(change)).toBe('won');
    throw new CommitUnknown();
  };
  return { ...deps, store: { ...deps.store, commit } };
}

/** Pays an amount from which on a code is asked for. */
async function submitted(deps: Deps): Promise<Paying & { readonly phone: string }> {
  phones += 1;
  const phone = `+2438100004${String(phones).padStart(2, '0')}`;
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const paying = await collect(world, merchant, { minted: { amount: '150.00' } });
  const command = submitOf(paying, meansOf(wallet));
  const call = submitPayment(deps, await callerOf(world, merchant, paying), command, plainly);
  if (deps === world.gateway.deps) await call;
  else await expect(call).rejects.toThrow(CommitUnknown);
  await world.gateway.background.idle();
  return { ...paying, phone };
}

async function textsOn(phone: string): Promise<number> {
  return (await phoneState(world, phone)).messages.length;
}

async function verifies({ token, payment_id, phone }: Paying & { readonly phone: string }): Promise<string> {
  const body = { payment_id, otp_code: await codeOn(world, phone) };
  return (await world.call('POST', '/payments/verify-otp', { bearer: token, body })).json.status;
}

describe('a submit whose commit lost its answer', () => {
  test('sends the code that it asks for, once', async () => {
    const paying = await submitted(losing(true));
    expect(await statusOf(world, paying)).toBe('pending_otp_verification');
    expect(await textsOn(paying.phone)).toBe(1);
    expect(await verifies(paying)).toBe('approved');
  });

  test('sends nothing if it did not take effect', async () => {
    const paying = await submitted(losing(false));
    expect(await statusOf(world, paying)).toBe('pending');
    expect(await textsOn(paying.phone)).toBe(0);
  });
});

describe('a resend whose commit lost its answer', () => {
  const resent = async (deps: Deps, paying: Paying): Promise<void> => {
    const call = resendCode(deps, await callerOf(world, merchant, paying), paying, plainly, UNCOUNTED);
    await expect(call).rejects.toThrow(CommitUnknown);
    await world.gateway.background.idle();
  };

  test('sends the code that now counts, once', async () => {
    const paying = await submitted(world.gateway.deps);
    await resent(losing(true), paying);
    expect(await textsOn(paying.phone)).toBe(2);
    expect(await verifies(paying)).toBe('approved');
  });

  test('sends nothing if it did not take effect: the first code still counts', async () => {
    const paying = await submitted(world.gateway.deps);
    await resent(losing(false), paying);
    expect(await textsOn(paying.phone)).toBe(1);
    expect(await verifies(paying)).toBe('approved');
  });
});
