/** Callbacks of carriers and submits that race: a callback is only a hint, and a session pays once. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { openFickleCarrier } from '../support/fickle-carrier.ts';
import {
  answerPrompt,
  collect,
  collectWith,
  debitsOf,
  hooksAbout,
  numberEnding,
  payByPhone,
  payFromWallet,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, callBack, expectBooksAgree, onlyHook, pushed } from '../support/phone-payments.ts';
import { untilLater, whileTimePasses } from '../support/waiting.ts';
import { mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

describe('callbacks', () => {
  test('an address that we did not make is 404, whatever the body', async () => {
    const paying = await pushed(world, merchant, '42');
    const url = new URL(callbackUrl(world.gateway.deps, await attemptOf(world, paying)));
    const [id, proof = ''] = (url.pathname.split('/').at(-1) ?? '').split('.');
    const changed = `${proof.startsWith('A') ? 'B' : 'A'}${proof.slice(1)}`;
    const forged = [
      `${id}.${changed}`,
      `${id}.`,
      `${id}`,
      `.${proof}`,
      `${id}.${proof}x`,
      `${id}.${proof.slice(0, -1)}`,
    ];
    for (const segment of forged) {
      for (const method of ['PUT', 'POST'] as const) {
        const address = `${world.url}/upstream/mtn-momo/${segment}`;
        expect(await callBack(address, { status: 'SUCCESSFUL' }, method), segment).toBe(404);
      }
    }
    const elsewhere = url.href.replace('/mtn-momo/', '/airtel/');
    expect(await callBack(elsewhere, { status: 'SUCCESSFUL' })).toBe(404);
    expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
  });

  test('false content at the right address changes nothing until the carrier confirms it', async () => {
    const paying = await pushed(world, merchant, '42');
    const url = callbackUrl(world.gateway.deps, await attemptOf(world, paying));
    const lies = [{ status: 'SUCCESSFUL', financialTransactionId: '1' }, { status: 'FAILED' }, { status: 'PENDING' }];
    for (const lie of lies)
      for (const method of ['PUT', 'POST'] as const) expect(await callBack(url, lie, method)).toBe(200);
    for (const body of ['\u0000 not json at all {{', '{"status":{"toString":1}}', '[]', 'null', ''])
      expect((await fetch(url, { method: 'PUT', body })).status).toBe(200);
    expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
    expect(hooksAbout(world, paying.transaction_id)).toEqual([]);
    expect(await answerPrompt(world, paying.msisdn, 'approve')).toBe(200);
    await untilStatus(world, paying, 'approved');
    // Approved is final: no false callback takes it back.
    for (const lie of lies) expect(await callBack(url, lie)).toBe(200);
    expect(await statusOf(world, paying)).toBe('approved');
    await onlyHook(world, paying);
  });

  test('ten callbacks at once settle it once', async () => {
    world.sandbox.faults.set('mtn', { lose_callback_rate: 1 });
    const paying = await pushed(world, merchant, '42');
    const url = callbackUrl(world.gateway.deps, await attemptOf(world, paying));
    await answerPrompt(world, paying.msisdn, 'approve');
    const answers = await Promise.all(Array.from({ length: 10 }, () => callBack(url, { status: 'SUCCESSFUL' })));
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(await statusOf(world, paying)).toBe('approved');
    await onlyHook(world, paying);
  });
});

describe('races', () => {
  test('ten racing submits on one session pay once', async () => {
    const paying = await collect(world, merchant, { method: 'mobile_money' });
    const numbers = Array.from({ length: 10 }, () => numberEnding('01'));
    const racing = Promise.all(numbers.map((msisdn) => payByPhone(world, paying, msisdn)));
    const answers = await whileTimePasses(world, racing);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(answer, 401, '1001', 'SESSION_CONSUMED');
    }
    await untilStatus(world, paying, 'approved');
    expect(numbers.flatMap((msisdn) => debitsOf(world, msisdn))).toHaveLength(1);
    await onlyHook(world, paying);
  });

  test('of a session’s five payments, submitted at once by phone and wallet, one is paid', async () => {
    const { token } = await mint(world, merchant);
    const wallet = await world.wallet();
    const payings = await Promise.all(Array.from({ length: 5 }, () => collectWith(world, token)));
    const numbers = payings.map(() => numberEnding('01'));
    const racing = payings.map((paying, at) =>
      at === 4
        ? payFromWallet(world, { token, ...paying }, wallet)
        : payByPhone(world, { token, ...paying }, numbers[at] ?? ''),
    );
    const answers = await whileTimePasses(world, Promise.all(racing));
    expect(
      answers.filter(({ status }) => status === 200),
      answers.map(({ text }) => text).join('\n'),
    ).toHaveLength(1);
    const statuses = await untilLater(world, async () => {
      const seen = await Promise.all(payings.map((paying) => statusOf(world, { token, ...paying })));
      return seen.every((status) => status === 'approved' || status === 'cancelled') ? seen : undefined;
    });
    expect(statuses.filter((status) => status === 'approved')).toHaveLength(1);
    const left = await world.gateway.store.account.get(Number(wallet.number.slice(4, 6)), wallet.number);
    const walletPaid = left?.balance === 37_50n ? 1 : 0;
    expect(numbers.flatMap((msisdn) => debitsOf(world, msisdn)).length + walletPaid).toBe(1);
  });

  test('a submit that waits behind one whose carrier is down gets its turn', async () => {
    const paying = await collect(world, merchant);
    const good = numberEnding('01');
    const racing = Promise.all([payByPhone(world, paying, numberEnding('06')), payByPhone(world, paying, good)]);
    const [down, up] = await whileTimePasses(world, racing);
    expect(up.json, up.text).toMatchObject({ status: 'pending_mobile_money_verification' });
    expect(['1404', '1001']).toContain(down.json.error_code);
    await untilStatus(world, paying, 'approved');
    expect(debitsOf(world, good)).toMatchObject([{ times: 1 }]);
  });
});

test('money that comes after a refusal goes to suspense, and a person is called', async () => {
  const carrier = await openFickleCarrier();
  const other = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url } });
  try {
    const shop = await other.merchant();
    const paying = await collect(other, shop);
    const msisdn = numberEnding('42');
    expect((await payByPhone(other, paying, msisdn)).json).toMatchObject({
      status: 'pending_mobile_money_verification',
    });
    carrier.say('FAILED');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    expect(await statusOf(other, paying)).toBe('failed');
    carrier.say('SUCCESSFUL');
    for (const _ of [1, 2]) expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    expect(await statusOf(other, paying)).toBe('failed');
    const suspense = await other.gateway.store.account.get(shop.merchant.shard, 'suspense:usd');
    expect(suspense?.balance).toBe(12_50n);
    expect(other.log.lines.filter((line) => line.includes('late_success'))).toHaveLength(1);
    await other.receiver.about(paying.transaction_id);
    await other.gateway.courier.idle();
    expect(hooksAbout(other, paying.transaction_id).map(({ body }) => body.status)).toEqual(['failed']);
    expect((await other.gateway.store.auditAll()).findings).toEqual([]);
  } finally {
    await other.close();
    await carrier.close();
  }
});

test('the books balance after all of this: ours, and ours against the carrier’s', async () => {
  await expectBooksAgree(world, merchant);
});
