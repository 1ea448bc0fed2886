/**
 * `mbongo attempt`: open attempts are listed, and closed by an operator's decision as by the upstream's own answer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { openStore } from '../../src/store/store.ts';
import { type AttemptVerdict, decideAttempt, requireNamesNoOther } from '../../src/usecases/attempt-decide.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import {
  answerPrompt,
  collect,
  collectWith,
  detailOf,
  hooksAbout,
  numberEnding,
  payByPhone,
  payFromWallet,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, callBack, carrierAsked, onlyHook, pushed } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond, submitAt } from '../support/second-gateway.ts';
import { pngFile, promise, upload } from '../support/transfer-flows.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let cli: CommandLine;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  await world.close();
  await cli.close();
});

const seen = (providerReference: string): AttemptVerdict => {
  return { paid: true, providerReference, by: 'amina', why: 'statement of the carrier' };
};
const NOT_PAID: AttemptVerdict = { ...seen(''), paid: false, providerReference: null };

const lines = (event: string) => world.log.lines.filter((line) => line.includes(`"event":"${event}"`));

describe('mbongo attempt list', () => {
  test('shows what is open, oldest first, and no whole number', async () => {
    for (const [ending, status] of [
      ['01', 'approved'],
      // Closed, but still to be inquired about.
      ['03', 'cancelled'],
    ] as const) {
      await untilStatus(world, await pushed(world, merchant, ending), status);
    }
    const older = await pushed(world, merchant, '42');
    await world.clock.advance(1);
    const payings = [older, await pushed(world, merchant, '42')];
    for (const paying of payings) expect((await attemptOf(world, paying)).status).toBe('waiting');
    const { attempts } = await cli.json('attempt list');
    expect(attempts).toMatchObject(
      payings.map(({ transaction_id }) => ({
        transaction_id,
        status: 'waiting',
        merchant_id: merchant.merchant.id,
        method: 'mobile_money',
        connector: 'mtn-momo',
        carrier: 'Vodacom M-Pesa',
        phone_number: expect.stringMatching(/^\+243 81 ••• •• 42$/),
        amount: '12.50',
        currency: 'usd',
        reference: expect.stringMatching(/^[0-9a-f-]{36}$/),
        provider_reference: null,
        created_at: expect.stringMatching(/^2026-11-20T/),
      })),
    );
    const [first] = attempts as { attempt_id: string }[];
    for (const verb of ['attempt list', 'attempt list --late', 'webhook list']) {
      expect((await cli.run(`${verb} --after x`)).status, verb).toBe(2);
    }
    const rest = await cli.json(`attempt list --after ${first?.attempt_id} --limit 1`);
    expect(rest.attempts).toMatchObject([{ transaction_id: payings[1]?.transaction_id }]);
    const { out } = await cli.run('attempt list');
    expect(out).toMatch(
      /^attempt +status +made +upstream +for +amount +phone +transaction +merchant +inquiries +reference +its reference\natt_/,
    );
    for (const { msisdn } of payings) expect(out).not.toContain(msisdn.slice(1));
  });
});

describe('mbongo attempt settle', () => {
  test('--paid: approved, with its money, its event and a timeline that names the operator', async () => {
    const paying = await pushed(world, merchant, '42');
    const { id } = await attemptOf(world, paying);
    const words = ['attempt', 'settle', id, '--paid', '--provider-reference', 'REF-77', '--by', ' amina\r', '--yes'];
    const { status, out, err } = await cli.run([...words, '--why', 'seen on the statement\n', '--json']);
    expect(status, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      attempt_id: id,
      status: 'approved',
      transaction_id: paying.transaction_id,
      payment_status: 'approved',
      provider_reference: 'REF-77',
      reason: 'settled_by_operator',
      phone_number: expect.stringContaining('•••'),
      next_inquiry_at: null,
    });
    const [line = '{}', ...more] = err.trimEnd().split('\n');
    expect(more).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({
      event: 'attempt_settled_by_operator',
      attempt_id: id,
      transaction_id: paying.transaction_id,
      status_before: 'waiting',
      by: expect.stringMatching(/^amina, as /),
      why: 'seen on the statement',
      provider_reference: 'REF-77',
    });
    const { timeline } = await detailOf(world, paying);
    expect(timeline.at(-1)).toMatchObject({ status: 'approved', reason: 'settled_by_operator' });
    expect(
      await rowsOf(world, 'select type from webhook_event where transaction_id = $1', [paying.transaction_id]),
    ).toEqual([{ type: 'payment.approved' }]);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('in another process: the webhook is sent at once, not when a lease expires', async () => {
    const paying = await pushed(world, merchant, '42');
    const { id } = await attemptOf(world, paying);
    const store = await openStore({ url: world.databaseUrl });
    await decideAttempt({ ...world.gateway.deps, store }, id, seen('REF-2'));
    await store.close();
    await world.pass(0);
    await world.gateway.courier.idle();
    expect(hooksAbout(world, paying.transaction_id).map(({ body }) => body.status)).toEqual(['approved']);
  });

  test('--not-paid: failed; money that comes all the same goes to suspense, and a person is called', async () => {
    const paying = await pushed(world, merchant, '42');
    const attempt = await attemptOf(world, paying);
    const settled = await decideAttempt(world.gateway.deps, attempt.id, NOT_PAID);
    expect(settled).toMatchObject({ attempt: { status: 'declined' }, orderStatus: 'failed' });
    expect((await onlyHook(world, paying)).body.status).toBe('failed');
    const { timeline, message } = await detailOf(world, paying);
    expect(timeline.at(-1)).toMatchObject({ status: 'failed', reason: 'settled_by_operator' });
    expect(message).toBe('The payment was closed by hand, after its outcome had been checked.');
    expect(await answerPrompt(world, paying.msisdn, 'approve')).toBe(200);
    expect(await callBack(callbackUrl(world.gateway.deps, attempt), {})).toBe(200);
    expect(await statusOf(world, paying)).toBe('failed');
    expect((await world.gateway.store.account.get(merchant.merchant.shard, 'suspense:usd'))?.balance).toBe(12_50n);
    expect(lines('attempt_alarm').filter((line) => line.includes(attempt.id))).toHaveLength(1);
  });

  test('says what it would do, and does nothing, without --yes', async () => {
    const paying = await pushed(world, merchant, '42');
    const { id } = await attemptOf(world, paying);
    const { status, out, err } = await cli.run(`attempt settle ${id} --not-paid`);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^mbongo: 12\.50 usd from \+243 81 ••• •• 42 by Vodacom M-Pesa, waiting since [^\n]+--yes[^\n]+\n$/,
    );
    expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
  });

  const settle = async (paying: Awaited<ReturnType<typeof pushed>>, reference: string, end = ' --yes') =>
    cli.run(`attempt settle ${(await attemptOf(world, paying)).id} --paid --provider-reference ${reference}${end}`);

  test('refuses a reference that names another payment, however it is written, until it tells them apart', async () => {
    const [one, two] = [await pushed(world, merchant, '42'), await pushed(world, merchant, '42')];
    expect((await settle(one, 'TWICE-7')).status).toBe(0);
    // By the carrier's word or by the operator's: the command line's clock is this machine's, and carriers are believed for 30 days.
    const why = expect.stringMatching(`for ${one.transaction_id}[^\n]*: if one movement is for both`);
    for (const end of ['', ' --yes']) {
      for (const reference of ['TWICE-7', 'twice7']) {
        expect(await settle(two, reference, end)).toMatchObject({ status: 1, err: why });
      }
    }
    expect(await statusOf(world, two)).toBe('pending_mobile_money_verification');
    expect((await settle(two, 'TWICE-7/2')).status).toBe(0);
    expect(await statusOf(world, two)).toBe('approved');
  });

  test('refuses the reference of a payment that the upstream itself has confirmed', async () => {
    const paid = await pushed(world, merchant, '01');
    await untilStatus(world, paid, 'approved');
    const { provider_reference } = await attemptOf(world, paid);
    const open = await pushed(world, merchant, '42');
    const attempt = await attemptOf(world, open);
    const theirs = provider_reference ?? '';
    for (const reference of [theirs, `${theirs.slice(0, 3)}-${theirs.slice(3)}`]) {
      const evidence = { paid: true, providerReference: reference };
      const verdict = { ...evidence, by: 'amina', why: 'statement' };
      const { deps } = world.gateway;
      // By the world's clock, which its payments have.
      const why = `approved, for ${paid.transaction_id}`;
      await expect(requireNamesNoOther(deps, attempt, evidence)).rejects.toThrow(why);
      await expect(decideAttempt(deps, attempt.id, verdict)).rejects.toThrow(why);
    }
    expect(await statusOf(world, open)).toBe('pending_mobile_money_verification');
  });

  test('takes a reference by which a bank names another payment’s transfer', async () => {
    const promised = await promise(world, merchant);
    const { json } = await upload(world, promised, pngFile());
    await approveProof(world.gateway.deps, json.proof.id, null, '4821377');
    const open = await pushed(world, merchant, '42');
    expect((await settle(open, '4821377')).status).toBe(0);
    expect(await statusOf(world, open)).toBe('approved');
  });

  const LONG = 'x'.repeat(501);
  test.each([
    ['without an end', '--yes', 2, 'the outcome is missing'],
    ['with two ends', '--paid --not-paid --provider-reference X --yes', 2, 'cannot be used with'],
    ['--paid without a reference', '--paid --yes', 2, '--provider-reference'],
    ['the same without --yes', '--paid', 2, '--provider-reference'],
    ['with a letter that no reference has', '--paid --provider-reference é --yes', 2, '1 to 64 visible characters'],
    ['with a reference that tells nothing apart', '--paid --provider-reference -/- --yes', 2, 'letters or digits'],
    ['with too long a reference', `--paid --provider-reference ${LONG} --yes`, 2, '1 to 64 visible characters'],
    ['with too long a reason', `--not-paid --why ${LONG} --yes`, 2, 'one line'],
  ])('%s is refused, and leaves the attempt open', async (_name, words, status, reason) => {
    const paying = await pushed(world, merchant, '42');
    const { id } = await attemptOf(world, paying);
    const refused = await cli.run(`attempt settle ${id} ${words}`);
    expect(refused).toMatchObject({ status, out: '' });
    expect(refused.err).toContain(reason);
    expect(refused.err).toMatch(/^mbongo: [^\n]+\n$/);
    expect((await attemptOf(world, paying)).status).toBe('waiting');
  });

  test('refuses a closed attempt, an unknown one and what is not an id', async () => {
    const paying = await pushed(world, merchant, '01');
    await untilStatus(world, paying, 'approved');
    const { id } = await attemptOf(world, paying);
    for (const yes of ['', ' --yes']) {
      expect((await cli.run(`attempt settle ${id} --not-paid${yes}`)).err).toContain(`${id} is closed: it is approved`);
    }
    const unknown = id.replace(/^att_.{20}/, 'att_00000000000000000000');
    expect((await cli.run(`attempt settle ${unknown} --not-paid --yes`)).err).toContain('there is no attempt');
    expect((await cli.run('attempt settle txn_x --not-paid --yes')).err).toContain('the attempt id is not valid');
    expect(await cli.run('attempt settle --not-paid --yes')).toMatchObject({ status: 2 });
    expect(await statusOf(world, paying)).toBe('approved');
  });
});

describe('an operator’s decision beside the upstream’s answer', () => {
  test('at the same time as ten callbacks: one of them settles it, and it is told once', async () => {
    world.sandbox.faults.set('mtn', { lose_callback_rate: 1 });
    const paying = await pushed(world, merchant, '42');
    const attempt = await attemptOf(world, paying);
    await answerPrompt(world, paying.msisdn, 'approve');
    const url = callbackUrl(world.gateway.deps, attempt);
    const words = Array.from({ length: 5 }, () =>
      decideAttempt(world.gateway.deps, attempt.id, seen('REF-3')).then(
        () => 'settled',
        (error: Error) => error.message,
      ),
    );
    const calls = Array.from({ length: 10 }, () => callBack(url, {}));
    const said = await Promise.all(words);
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
    expect(said.filter((one) => one === 'settled').length).toBeLessThanOrEqual(1);
    for (const one of said.filter((other) => other !== 'settled')) expect(one).toContain('is closed: it is approved');
    expect(await statusOf(world, paying)).toBe('approved');
    await onlyHook(world, paying);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('is refused while the carrier is being called; later it also ends an attempt that never got an answer', async () => {
    const second = await openSecond(world, manualClock(0));
    const paying = await collect(world, merchant);
    const sibling = await collectWith(world, paying.token);
    world.sandbox.faults.set('mtn', { drop_rate: 1 });
    const asked = carrierAsked(world);
    const hanging = submitAt(second.url, paying, numberEnding('42'));
    await asked;
    const { id, status } = await attemptOf(world, paying);
    expect(status).toBe('intended');
    await expect(decideAttempt(world.gateway.deps, id, NOT_PAID)).rejects.toThrow('look again in 20 s');
    // Then it may be the round that is just calling, with a call that hangs as well.
    const heard = () =>
      decideAttempt(world.gateway.deps, id, NOT_PAID).catch((error: Error) => {
        if (error.message.includes('look again in')) return undefined;
        throw error;
      });
    const settled = await untilLater(world, heard, 20_000);
    expect(settled.orderStatus).toBe('failed');
    expect((await detailOf(world, paying)).payment_method).toBe('mobile_money');
    expect(await statusOf(world, { ...sibling, token: paying.token })).toBe('cancelled');
    expect((await payFromWallet(world, paying, await world.wallet())).json).toMatchObject({ error_code: '1001' });
    // The call that hung learns what was settled, and reports it.
    await second.cut();
    expect(JSON.parse((await hanging).text)).toMatchObject({ success: true, status: 'failed' });
    await second.close();
  });

  test('is also refused until an attempt whose answer was lost has been inquired about once', async () => {
    await pushed(world, merchant, '42');
    const paying = await collect(world, merchant);
    world.sandbox.faults.set('mtn', { answer_lost_rate: 1 });
    const submitted = await payByPhone(world, paying, numberEnding('42'));
    expect(submitted.json, submitted.text).toMatchObject({ status: 'processing' });
    const { id, status } = await attemptOf(world, paying);
    expect(status).toBe('unknown');
    await expect(decideAttempt(world.gateway.deps, id, NOT_PAID)).rejects.toThrow('look again in 5 s');
    await untilLater(world, async () => ((await attemptOf(world, paying)).inquiries > 0 ? true : undefined), 5_000);
    const settled = await decideAttempt(world.gateway.deps, id, NOT_PAID);
    expect(settled).toMatchObject({ attempt: { status: 'declined' }, orderStatus: 'failed' });
  });

  test('of two decisions at once, one counts', async () => {
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('42');
    expect((await payByPhone(world, paying, msisdn)).status).toBe(200);
    const attempt = await attemptOf(world, paying);
    const [first, second] = await Promise.allSettled([
      decideAttempt(world.gateway.deps, attempt.id, seen('REF-4')),
      decideAttempt(world.gateway.deps, attempt.id, NOT_PAID),
    ]);
    expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected']);
    await world.pass(0);
    await world.receiver.about(paying.transaction_id);
    await world.gateway.courier.idle();
    expect(hooksAbout(world, paying.transaction_id)).toHaveLength(1);
    expect(lines('attempt_settled_by_operator').filter((line) => line.includes(attempt.id))).toHaveLength(1);
  });
});
