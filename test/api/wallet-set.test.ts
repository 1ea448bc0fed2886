/**
 * `mbongo wallet set`: a new PIN, and a new phone for the codes, for whoever has forgotten the one or lost the other.
 */
import { afterAll, expect, test } from 'vitest';
import { walletShow } from '../../src/commands/wallet.ts';
import { makeWalletNumber } from '../../src/domain/wallet.ts';
import { UNCOUNTED } from '../../src/usecases/code-calls.ts';
import { resendCode } from '../../src/usecases/code-resend.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { setWallet } from '../../src/usecases/wallet-set.ts';
import { host, stepOf, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { callerOf, meansOf, oncePinIsJudged, plainly, submitOf } from '../support/direct-calls.ts';
import { codeOn, collect, numberEnding, type Paying, payFromWallet, phoneState, statusOf } from '../support/flows.ts';
import { losingAnswer } from '../support/lost-answer.ts';
import { whileTimePasses } from '../support/waiting.ts';
import type { World } from '../support/world.ts';

const { world, cli, merchant, close } = await openCommandWorld();
afterAll(close);

const pay = async (wallet: { readonly number: string; readonly pin: string }) =>
  (await payFromWallet(world, await collect(world, merchant), wallet)).json;

/** A payment that waits for its code. */
async function waiting(wallet: Awaited<ReturnType<World['wallet']>>): Promise<Paying> {
  const paying = await collect(world, merchant, { minted: { amount: '150.00' } });
  expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'pending_otp_verification' });
  return paying;
}

const verify = async ({ token: bearer, payment_id }: Paying, otp_code: string | undefined) =>
  (await world.call('POST', '/payments/verify-otp', { bearer, body: { payment_id, otp_code } })).json;

/** Neither its code nor another one pays it, and no other one is sent. */
async function isBegunInVain(paying: Paying, code: string | undefined): Promise<void> {
  const refused = await verify(paying, code);
  expect(refused).toMatchObject({ error_code: '1302', details: [{ code: 'OTP_EXPIRED' }] });
  expect(refused.message).toContain('start a new payment');
  const { token: bearer, payment_id } = paying;
  const resent = await world.call('POST', '/payments/resend-otp', { bearer, body: { payment_id } });
  expect(resent.json).toMatchObject({ error_code: '1301', retryable: false, details: [{ code: 'RESENDS_USED' }] });
}

test('a new PIN pays and the old one does not, and the lock of the old one is over', async () => {
  const wallet = await world.wallet();
  for (let tries = 0; tries < 5; tries += 1) await pay({ ...wallet, pin: '9999' });
  expect(await pay(wallet)).toMatchObject({ error_code: '1303' });
  const { status, out, err } = await cli.run(['wallet', 'set', wallet.number, '--pin', '-', '--json'], {}, '772201\n');
  expect(status, err).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ wallet_number: wallet.number, pin: 'new' });
  expect(await pay(wallet)).toMatchObject({ error_code: '1302' });
  expect(await pay({ ...wallet, pin: '772201' })).toMatchObject({ status: 'approved' });
  const journal = await cli.run(`journal list --about ${wallet.number}`);
  expect(journal.out).toContain('wallet set');
  expect(journal.out + world.log.lines.join('')).not.toContain('772201');
});

test('without a PIN nothing opens an account, not even a code, until one is set', async () => {
  const phone = numberEnding('42');
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const begun = await waiting(wallet);
  const { status, out } = await cli.run(['wallet', 'set', wallet.number, '--pin', 'none']);
  expect([status, out]).toEqual([0, expect.stringMatching(/^pin +none$/m)]);
  for (const pin of [wallet.pin, '0000']) expect(await pay({ ...wallet, pin })).toMatchObject({ error_code: '1302' });
  const { deps } = world.gateway;
  expect((await walletShow({ deps }, wallet.number)).document).toMatchObject({ pin: 'none', pin_locked_until: null });
  const code = await codeOn(world, phone);
  await isBegunInVain(begun, code);
  expect((await deps.store.keyNeeds(world.clock.now())).map(({ key }) => key)).not.toContain('');
  await setWallet(deps, wallet.number, { pin: wallet.pin, phone: undefined });
  expect((await walletShow({ deps }, wallet.number)).document).toMatchObject({ pin: 'set' });
  await isBegunInVain(begun, code);
  expect(await pay(wallet)).toMatchObject({ status: 'approved' });
});

test('a PIN for an account without one takes the work of a hash, as one for no account does', async () => {
  const wallet = await world.wallet();
  const { deps } = world.gateway;
  await setWallet(deps, wallet.number, { pin: null, phone: undefined });
  const judged: unknown[] = [];
  const secrets: typeof deps.secrets = {
    ...deps.secrets,
    verifyPin(...asked) {
      judged.push(asked[1]);
      return deps.secrets.verifyPin(...asked);
    },
  };
  for (const number of [wallet.number, makeWalletNumber(3, 424_242)]) {
    const paying = await collect(world, merchant);
    const command = submitOf(paying, meansOf({ ...wallet, number }));
    const submitted = submitPayment({ ...deps, secrets }, await callerOf(world, merchant, paying), command, plainly);
    await expect(submitted).rejects.toMatchObject({ code: 1302 });
  }
  // Without a hash, nobody's is computed; a damaged one, or an empty text, would be refused at once.
  expect(judged).toEqual([undefined, undefined]);
});

test('a PIN that was verified before it was changed pays nothing', async () => {
  const wallet = await world.wallet();
  const paying = await collect(world, merchant);
  const caller = await callerOf(world, merchant, paying);
  const { deps } = world.gateway;
  const change = { pin: '772201', phone: undefined };
  const overtaken = oncePinIsJudged(deps, () => setWallet(deps, wallet.number, change));
  const submitted = submitPayment(overtaken, caller, submitOf(paying, meansOf(wallet)), plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1302 });
  expect((await payFromWallet(world, paying, { ...wallet, pin: '772201' })).json).toMatchObject({ status: 'approved' });
});

test('a PIN whose hash is made anew while it pays is still the right one', async () => {
  const wallet = await world.wallet();
  const paying = await collect(world, merchant);
  const caller = await callerOf(world, merchant, paying);
  const { deps } = world.gateway;
  const same = { pin: wallet.pin, phone: undefined };
  const overtaken = oncePinIsJudged(deps, () => setWallet(deps, wallet.number, same));
  await submitPayment(overtaken, caller, submitOf(paying, meansOf(wallet)), plainly);
  expect(await statusOf(world, paying)).toBe('approved');
});

test('a merchant that is suspended while a PIN is judged for the second time is paid nothing', async () => {
  const own = await world.merchant();
  const wallet = await world.wallet();
  const paying = await collect(world, own);
  const caller = await callerOf(world, own, paying);
  const { deps } = world.gateway;
  const same = { pin: wallet.pin, phone: undefined };
  const overtaken = oncePinIsJudged(deps, () => setWallet(deps, wallet.number, same));
  let judged = 0;
  const verifyPin: typeof deps.secrets.verifyPin = async (...given) => {
    judged += 1;
    if (judged === 2) await setMerchantStatus(deps, own.merchant.id, 'SUSPENDED');
    return deps.secrets.verifyPin(...given);
  };
  const suspended = { ...overtaken, secrets: { ...deps.secrets, verifyPin } };
  const submitted = submitPayment(suspended, caller, submitOf(paying, meansOf(wallet)), plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1004 });
  expect(judged).toBe(2);
});

test('codes go to the new phone, and no payment that was begun before is paid by any', async () => {
  const [before, after] = [numberEnding('42'), numberEnding('42')];
  const wallet = await world.wallet({ balance: 500_00n, phone: before });
  const paying = await waiting(wallet);
  const old = await codeOn(world, before);
  const hosted = await host(world, merchant, { minted: { amount: '150.00' } });
  const customer = visitor(world);
  const page = await customer.open(hosted.url);
  const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
  expect(titleOf(await customer.send(stepOf(page, 'pay'), fields))).toBe('Enter the code that we sent you');
  await codeOn(world, before, 2);
  const { status, out } = await cli.run(['wallet', 'set', wallet.number, '--phone', after]);
  expect([status, out]).toEqual([0, expect.stringMatching(/^pin +unchanged$/m)]);
  expect(out).not.toContain(after.slice(4, 9));
  await isBegunInVain(paying, old);
  expect(textOf(await customer.open(hosted.url))).toMatch(/This code has expired\..*Go back to the shop/);
  // Back to the phone of before: what went there stays worthless.
  await setWallet(world.gateway.deps, wallet.number, { pin: undefined, phone: before });
  await isBegunInVain(paying, old);
  await setWallet(world.gateway.deps, wallet.number, { pin: undefined, phone: after });
  expect(await verify(await waiting(wallet), await codeOn(world, after))).toMatchObject({ status: 'approved' });
  expect((await phoneState(world, before)).messages).toHaveLength(2);
});

test('a code that is sent again while the phone is changed goes to neither', async () => {
  const [before, after] = [numberEnding('42'), numberEnding('42')];
  const wallet = await world.wallet({ balance: 500_00n, phone: before });
  const paying = await waiting(wallet);
  await codeOn(world, before);
  const { deps } = world.gateway;
  let isChanged = false;
  const get: typeof deps.store.wallet.get = async (...key) => {
    const found = await deps.store.wallet.get(...key);
    if (!isChanged) await setWallet(deps, wallet.number, { pin: undefined, phone: after });
    isChanged = true;
    return found;
  };
  const overtaken = { ...deps, store: { ...deps.store, wallet: { ...deps.store.wallet, get } } };
  const caller = await callerOf(world, merchant, paying);
  const resent = resendCode(overtaken, caller, paying, plainly, UNCOUNTED);
  await expect(resent).rejects.toMatchObject({ code: 1301, more: { details: [{ code: 'RESENDS_USED' }] } });
  for (const [phone, count] of [
    [before, 1],
    [after, 0],
  ] as const) {
    expect((await phoneState(world, phone)).messages).toHaveLength(count);
  }
});

test('a command whose answer was lost undoes no later one', async () => {
  const wallet = await world.wallet();
  const { deps } = world.gateway;
  const overtaken = losingAnswer(deps, () => setWallet(deps, wallet.number, { pin: null, phone: undefined }));
  const setting = setWallet(overtaken, wallet.number, { pin: '772201', phone: undefined });
  await whileTimePasses(world, setting, 500);
  for (const pin of [wallet.pin, '772201']) expect(await pay({ ...wallet, pin })).toMatchObject({ error_code: '1302' });
});

test('a code that is asked for while the phone is changed goes to the new one', async () => {
  const [before, after] = [numberEnding('42'), numberEnding('42')];
  const wallet = await world.wallet({ balance: 500_00n, phone: before });
  const paying = await collect(world, merchant, { minted: { amount: '150.00' } });
  const caller = await callerOf(world, merchant, paying);
  const { deps } = world.gateway;
  const change = { pin: undefined, phone: after };
  const overtaken = oncePinIsJudged(deps, () => setWallet(deps, wallet.number, change));
  await submitPayment(overtaken, caller, submitOf(paying, meansOf(wallet)), plainly);
  expect(await verify(paying, await codeOn(world, after))).toMatchObject({ status: 'approved' });
  expect((await phoneState(world, before)).messages).toEqual([]);
  expect(await statusOf(world, paying)).toBe('approved');
});

test('says what is wrong, and changes nothing', async () => {
  const wallet = await world.wallet();
  const said = async (...words: readonly string[]): Promise<[number, string]> => {
    const { status, err } = await cli.run(['wallet', 'set', ...words]);
    return [status, err];
  };
  expect(await said(wallet.number)).toEqual([2, expect.stringContaining('nothing to set')]);
  expect(await said('1234', '--pin', '1111')).toEqual([2, expect.stringContaining('begins with 5707')]);
  for (const pin of ['123', '123456789', '12a4', '']) {
    expect(await said(wallet.number, '--pin', pin)).toEqual([2, expect.stringContaining('four to eight digits')]);
  }
  expect((await said(wallet.number, '--pin', '7722', '--phone', '12'))[0]).toBe(2);
  await expect(setWallet(world.gateway.deps, wallet.number, { pin: undefined, phone: '0810000042' })).rejects.toThrow(
    'international',
  );
  expect(await pay(wallet)).toMatchObject({ status: 'approved' });
  expect(await said(makeWalletNumber(3, 1), '--pin', '1111')).toEqual([
    1,
    expect.stringContaining('there is no wallet'),
  ]);
});
