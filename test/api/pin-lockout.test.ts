/**
 * Wrong PINs at numbers that are not accounts: the answers are the same, to the byte, as at an account.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guardedUpdate } from '../../src/domain/change.ts';
import { makeWalletNumber, shardOfWallet } from '../../src/domain/wallet.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { callerOf, meansOf, oncePinIsJudged, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal, withoutIds } from '../support/envelope.ts';
import { collect, type Fields, type Paying, payFromWallet } from '../support/flows.ts';
import { countRows, rowsOf } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

const HOUR = 3_600_000;
const LOCK = 15 * 60_000;
const WRONG = '9999';

/** A submit with that number and PIN, under the method's own field names. */
function submit(
  paying: Paying,
  method: string,
  number: string,
  pin: string,
  names = ownNames(method),
): Promise<Answer> {
  const body: Fields = {
    payment_id: paying.payment_id,
    payment_method_id: method,
    [names.number]: number,
    [names.pin]: pin,
  };
  return world.call('POST', '/payments/submit', { bearer: paying.token, body });
}

function ownNames(method: string): { readonly number: string; readonly pin: string } {
  const prefix = method === 'flash' ? 'flash' : 'ewallet';
  return { number: `${prefix}_number`, pin: `${prefix}_pin` };
}

let unknowns = 0;

/** A well-formed number that no account has. */
function unknownNumber(): string {
  unknowns += 1;
  return makeWalletNumber(11, unknowns);
}

/** A refusal without the fields that identify this call and this payment. */
function said({ json, ...answer }: Answer): Fields {
  const { transaction_id, ...rest } = withoutIds({ json, ...answer });
  expect(transaction_id).toMatch(/^txn_/);
  return { ...rest, status: answer.status, wait: answer.headers.get('retry-after') };
}

/** The answers to wrong PINs at a number, at these times. */
async function toldAt(method: string, number: string, waits: readonly number[]): Promise<Fields[]> {
  const paying = await collect(world, merchant, {
    method: method === 'flash' ? 'flash' : 'none',
    minted: { ttl_seconds: 86_400 },
  });
  const told: Fields[] = [];
  for (const wait of waits) {
    await world.clock.advance(wait);
    told.push(said(await submit(paying, method, number, WRONG)));
  }
  return told;
}

/** Counted down, locked, still locked, free again; then two whose earlier ones are forgotten after an hour. */
const WAITS = [0, 0, 0, 0, 0, 0, LOCK - 1, 1, 0, HOUR - 1, HOUR, 0];
const LEFT = [4, 3, 2, 1, 0, undefined, undefined, 4, 3, 2, 4, 3];

describe.each(['wallet', 'flash'] as const)('%s', (kind) => {
  test('a number without an account answers as one with: counted down, locked, free again, forgotten', async () => {
    const real = await toldAt(kind, (await world.wallet({ kind })).number, WAITS);
    const otherKind = await world.wallet({ kind: kind === 'flash' ? 'wallet' : 'flash' });
    for (const number of [unknownNumber(), otherKind.number, '5707000000000001', 'nothing', '+243810000042']) {
      expect(await toldAt(kind, number, WAITS), number).toEqual(real);
    }
    const left = real.map(({ details }) => {
      const [detail] = (details ?? []) as readonly { message: string; field: string; code: string }[];
      if (detail === undefined) return undefined;
      expect(detail).toMatchObject({ field: ownNames(kind).pin, code: 'INVALID_PIN' });
      return Number(/(\d) attempts? (is|are) left/.exec(detail.message)?.[1] ?? 0);
    });
    expect(left).toEqual(LEFT);
    expect(real[5]).toMatchObject({ status: 403, error_code: '1303', wait: '900' });
    expect(real[6]).toMatchObject({ status: 403, error_code: '1303', wait: '1' });
  });
});

test('a number without an account costs the same reads as one with, also where a code would be asked for', async () => {
  const real = (await world.wallet()).number;
  const minted = { amount: '150.00' };
  const readsOf = async (number: string): Promise<readonly string[]> => {
    const paying = await collect(world, merchant, { minted });
    const { deps } = world.gateway;
    const reads: string[] = [];
    const { wallet, account, limitCounter } = deps.store;
    const counted = <A extends readonly unknown[], R>(noun: string, get: (...key: A) => R) => ({
      get(...key: A): R {
        reads.push(noun);
        return get(...key);
      },
    });
    const store = {
      ...deps.store,
      wallet: { ...wallet, ...counted('wallet', wallet.get) },
      account: { ...account, ...counted('account', account.get) },
      limitCounter: { ...limitCounter, ...counted('pin_guard', limitCounter.get) },
    };
    const caller = await callerOf(world, merchant, paying);
    const command = submitOf(paying, meansOf({ number, pin: WRONG }));
    const submitted = submitPayment({ ...deps, store, codesPerHour: 60 }, caller, command, plainly);
    await expect(submitted).rejects.toMatchObject({ code: 1302 });
    return reads.sort();
  };
  const ofReal = await readsOf(real);
  expect(ofReal).toContain('pin_guard');
  expect(await readsOf(unknownNumber())).toEqual(ofReal);
});

test('tries as a wallet do not count as flash, nor do those at one number count at another', async () => {
  const number = unknownNumber();
  for (const [method, tried] of [
    ['wallet', number],
    ['flash', number],
    ['wallet', unknownNumber()],
  ] as const) {
    expect((await toldAt(method, tried, [0]))[0]?.message).toContain('4 attempts are left');
  }
});

test('of thirty parallel guesses at two processes, five are evaluated', async () => {
  const second = await openSecond(world, manualClock(0));
  try {
    const number = unknownNumber();
    const paying = await collect(world, merchant);
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        if (at % 2 === 0) return (await submit(paying, 'wallet', number, String(2000 + at))).json.error_code;
        const response = await fetch(`${second.url}/api/v1/payments/submit`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${paying.token}` },
          body: JSON.stringify({
            payment_id: paying.payment_id,
            payment_method_id: 'wallet',
            ewallet_number: number,
            ewallet_pin: String(2000 + at),
          }),
        });
        return ((await response.json()) as { error_code: string }).error_code;
      }),
    );
    expect(answers.filter((code) => code === '1302')).toHaveLength(5);
    expect(answers.filter((code) => code === '1303')).toHaveLength(25);
  } finally {
    await second.close();
  }
});

test('a lock that ends while a submit reads counts no PIN, because none was verified: the same call pays a second later', async () => {
  const made = await world.wallet();
  const { deps } = world.gateway;
  const { wallet } = deps.store;
  const read = () => wallet.get(shardOfWallet(made.number), made.number);
  const found = await read();
  if (found === undefined) throw new Error('there is no such wallet');
  let now = deps.clock.now();
  const locked = { pin_failures: 5, pin_failed_at: now, locked_until: now + 1 };
  expect(await deps.store.commit({ updates: [guardedUpdate('wallet', found, locked)] })).toBe('won');
  const paying = await collect(world, merchant);
  const submitted = submitPayment(
    {
      ...oncePinIsJudged(deps, () => {
        now += 1;
      }),
      clock: { ...deps.clock, now: () => now },
    },
    await callerOf(world, merchant, paying),
    submitOf(paying, meansOf(made)),
    plainly,
  );
  await expect(submitted).rejects.toMatchObject({ code: 1303, more: { retryAfter: 1 } });
  expect(await read()).toMatchObject(locked);
  await world.clock.advance(1_000);
  expect((await payFromWallet(world, paying, made)).json).toMatchObject({ status: 'approved' });
});

test('a right PIN is not told, not even as lacking money, if another try locks its account before it is answered', async () => {
  const poor = await world.wallet({ balance: 0n });
  const [paying, other] = [await collect(world, merchant), await collect(world, merchant)];
  for (let tries = 1; tries < 5; tries += 1) await submit(other, 'wallet', poor.number, WRONG);
  const { deps } = world.gateway;
  let isFirst = true;
  const commit: typeof deps.store.commit = async (change) => {
    const comesFirst = isFirst;
    isFirst = false;
    if (comesFirst) expectRefusal(await submit(other, 'wallet', poor.number, WRONG), 400, '1302', 'INVALID_PIN');
    return deps.store.commit(change);
  };
  const behind = { ...deps, store: { ...deps.store, commit } };
  const caller = await callerOf(world, merchant, paying);
  const submitted = submitPayment(behind, caller, submitOf(paying, meansOf(poor)), plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1303 });
});

test('typed numbers are not stored, and the counts are reaped some time after they have stopped counting', async () => {
  const number = unknownNumber();
  await toldAt('wallet', number, [0, 0]);
  const rows = await rowsOf<{ row: string }>(world, 'select g::text as row from pin_guard g');
  expect(rows.length).toBeGreaterThan(0);
  for (const { row } of rows) expect(row).not.toContain(number);
  // Kept for ten minutes more, for a process whose clock lags.
  await world.pass(HOUR + 9 * 60_000);
  expect((await countRows(world)).pin_guard).toBeGreaterThan(0);
  await world.pass(60_000 + 1);
  expect((await countRows(world)).pin_guard).toBe(0);
});

describe('a refusal names the field that was sent', () => {
  test.each([
    ['flash', 'flash_number', 'flash_pin'],
    ['flash', 'ewallet_number', 'ewallet_pin'],
    ['flash', 'flash_number', 'ewallet_pin'],
    ['flash', 'ewallet_number', 'flash_pin'],
    ['wallet', 'ewallet_number', 'ewallet_pin'],
  ])('%s by %s and %s', async (method, number, pin) => {
    const kind = method === 'flash' ? 'flash' : 'wallet';
    const [known, foreign] = [await world.wallet({ kind }), await world.wallet({ kind, currency: 'cdf' })];
    const paying = await collect(world, merchant);
    for (const typed of [known.number, unknownNumber()]) {
      const wrong = await submit(paying, method, typed, WRONG, { number, pin });
      expectRefusal(wrong, 400, '1302', 'INVALID_PIN');
      expect(wrong.json.details).toMatchObject([{ field: pin }]);
    }
    const currency = await submit(paying, method, foreign.number, foreign.pin, { number, pin });
    expectRefusal(currency, 400, '1102', 'WALLET_CURRENCY');
    expect(currency.json.details).toMatchObject([{ field: number }]);
  });

  test('with both pairs of fields, each method reads its own', async () => {
    const [wallet, flash] = [await world.wallet(), await world.wallet({ kind: 'flash' })];
    for (const method of ['wallet', 'flash']) {
      const paying = await collect(world, merchant);
      const body = {
        payment_id: paying.payment_id,
        payment_method_id: method,
        ewallet_number: wallet.number,
        ewallet_pin: wallet.pin,
        flash_number: flash.number,
        flash_pin: flash.pin,
      };
      const paid = await world.call('POST', '/payments/submit', { bearer: paying.token, body });
      expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
    }
  });

  test('a wallet payment without the wallet’s fields is 1109, whatever else was sent', async () => {
    const paying = await collect(world, merchant);
    const refused = await submit(paying, 'wallet', '5707000000000000', '1234', ownNames('flash'));
    expectRefusal(refused, 400, '1109', 'REQUIRED');
    const fields = refused.json.details.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(['ewallet_number', 'ewallet_pin']);
  });
});

describe('one session at many accounts', () => {
  /** 20 wrong PINs, over all accounts. */
  const MAX = 20;
  const leftIn = ({ json }: Answer): number =>
    Number(/(\d) attempts? (is|are) left/.exec(json.details[0].message)?.[1] ?? 0);

  test('twenty wrong PINs lock the session, not the accounts, for fifteen minutes, and are told as they come near', async () => {
    const [mine, others] = [await world.wallet(), await world.wallet()];
    const paying = await collect(world, merchant, { minted: { ttl_seconds: 86_400 } });
    const left: number[] = [];
    for (let tries = 1; tries <= MAX; tries += 1) {
      const wrong = await submit(paying, 'wallet', tries === 1 ? others.number : unknownNumber(), WRONG);
      expectRefusal(wrong, 400, '1302', 'INVALID_PIN');
      left.push(leftIn(wrong));
    }
    expect(left).toEqual([...Array.from({ length: MAX - 4 }, () => 4), 3, 2, 1, 0]);
    for (const number of [mine.number, others.number, unknownNumber()]) {
      const locked = await submit(paying, 'wallet', number, mine.pin);
      expectRefusal(locked, 403, '1303');
      expect(locked.headers.get('retry-after')).toBe('900');
    }
    // Whoever holds these accounts does not notice.
    const elsewhere = await collect(world, merchant);
    expect((await payFromWallet(world, elsewhere, others)).json).toMatchObject({ status: 'approved' });
    await world.clock.advance(LOCK);
    expect((await payFromWallet(world, paying, mine)).json).toMatchObject({ status: 'approved' });
  });

  test('a right PIN between wrong ones is not told once the session is locked, however many arrive at once', async () => {
    const mine = await world.wallet();
    const paying = await collect(world, merchant);
    for (let tries = 1; tries < MAX; tries += 1) await submit(paying, 'wallet', unknownNumber(), WRONG);
    const numbers = Array.from({ length: 8 }, unknownNumber);
    const answers = await Promise.all(numbers.map((number) => submit(paying, 'wallet', number, WRONG)));
    expect(answers.map(({ json }) => json.error_code).sort()).toEqual([
      '1302',
      ...Array.from({ length: 7 }, () => '1303'),
    ]);
    expectRefusal(await submit(paying, 'wallet', mine.number, mine.pin), 403, '1303');
  });

  test.each([
    ['it would pay', 100_00n],
    ['its account has too little', 0n],
  ])('a right PIN is not told if another try locks the session before it is answered (%s)', async (_, balance) => {
    const mine = await world.wallet({ balance });
    const paying = await collect(world, merchant);
    for (let tries = 1; tries < MAX; tries += 1) await submit(paying, 'wallet', unknownNumber(), WRONG);
    const { deps } = world.gateway;
    let isFirst = true;
    const commit: typeof deps.store.commit = async (change) => {
      const comesFirst = isFirst;
      isFirst = false;
      if (comesFirst) expectRefusal(await submit(paying, 'wallet', unknownNumber(), WRONG), 400, '1302', 'INVALID_PIN');
      return deps.store.commit(change);
    };
    const behind = { ...deps, store: { ...deps.store, commit } };
    const caller = await callerOf(world, merchant, paying);
    const submitted = submitPayment(behind, caller, submitOf(paying, meansOf(mine)), plainly);
    await expect(submitted).rejects.toMatchObject({ code: 1303 });
  });
});
