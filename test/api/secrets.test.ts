/** A run of every flow whose secrets are then looked for in the log, the refusals, the webhooks and the database. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { rotateCredential } from '../../src/usecases/credential-rotate.ts';
import {
  answerPrompt,
  bearerOf,
  codeOn,
  collect,
  collectWith,
  numberEnding,
  payByPhone,
  payFromWallet,
  untilStatus,
} from '../support/flows.ts';
import { rawPost, sendRaw } from '../support/raw.ts';
import { rowsOf, tablesOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

/**
 * Every secret that a run of all flows uses, searched for in everything that is kept or sent: log lines, rows,
 * webhooks, and the answers of refusals. Each is long enough that no other value equals it by chance.
 */
let world: World;
/** What must never appear again, by its kind. */
const secrets = new Map<string, string>();
/** What must not be in a log line, but may be in rows. */
const personal = new Map<string, string>();
/** The bodies of refusals. */
const refusals: string[] = [];

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0', LOG_LEVEL: 'debug' } });
});
afterAll(() => world.close());

const PIN = '73915482';
const WRONG_PIN = '84026593';
const WRONG_CODE = '918273';

test('a run of every flow, successful and failing', async () => {
  const merchant = await world.merchant();
  const rotated = await rotateCredential(world.gateway.deps, merchant.key_id, 3_600_000);
  secrets.set('merchant secret', merchant.secret);
  secrets.set('rotated secret', rotated.secret);
  secrets.set('webhook secret', merchant.webhook_secret);
  const note = (text: string): void => void refusals.push(text);
  const hold = (token: string): void => {
    secrets.set(`session token ${secrets.size}`, token.slice('sess_'.length + 26));
  };

  // A wallet, first with a wrong PIN, then with a code, first a wrong one.
  const phone = '+243826543277';
  const wallet = await world.wallet({ balance: 500_00n, pin: PIN, phone });
  secrets.set('PIN', PIN).set('wrong PIN', WRONG_PIN);
  personal.set('wallet phone', phone.slice(1));
  const keyed = { 'idempotency-key': 'secrets-1' };
  const big = await collect(world, merchant, {
    method: 'wallet',
    minted: { amount: '150.00' },
    body: { wallet_number: wallet.number, wallet_pin: PIN, phone_number: phone, email: 'canary@shop.example' },
  });
  hold(big.token);
  note((await payFromWallet(world, big, { ...wallet, pin: WRONG_PIN }, keyed)).text);
  const asked = await payFromWallet(world, big, wallet, keyed);
  expect(asked.json).toMatchObject({ status: 'pending_otp_verification' });
  const code = await codeOn(world, phone);
  const verify = (otp_code: string) =>
    world.call('POST', '/payments/verify-otp', {
      bearer: big.token,
      body: { payment_id: big.payment_id, otp_code },
      headers: keyed,
    });
  note((await verify(WRONG_CODE)).text);
  secrets.set('code', code).set('wrong code', WRONG_CODE);
  const resent = await world.call('POST', '/payments/resend-otp', {
    bearer: big.token,
    body: { payment_id: big.payment_id },
  });
  expect(resent.status).toBe(200);
  note(resent.text);
  const second = await codeOn(world, phone, 2);
  secrets.set('second code', second);
  expect((await verify(second)).json).toMatchObject({ status: 'approved' });

  // Phones: paid, refused by the person, unreachable, malformed.
  for (const ending of ['01', '06', '42']) {
    const msisdn = numberEnding(ending);
    personal.set(`phone ${ending}`, msisdn.slice(1));
    const paying = await collect(world, merchant);
    hold(paying.token);
    const submitted = await payByPhone(world, paying, msisdn);
    if (submitted.status >= 400) note(submitted.text);
    if (ending === '01') await untilStatus(world, paying, 'approved');
    if (ending === '42') {
      await answerPrompt(world, msisdn, 'reject');
      await untilStatus(world, paying, 'cancelled');
    }
  }
  const open = await collect(world, merchant);
  hold(open.token);
  for (const msisdn of ['+243 82 654 32 7', '+33612345679']) {
    personal.set(`bad phone ${msisdn}`, msisdn.replaceAll(/\D/g, ''));
    note((await payByPhone(world, open, msisdn)).text);
  }

  // Bodies, headers and addresses that contain what they must not.
  const mint = (raw: string) => world.call('POST', '/internal/sessions/create', { bearer: bearerOf(merchant), raw });
  secrets.set('card number', '5123450000000008');
  note((await mint('{"amount":"1","currency":"usd","customer_reference":"5123 4500 0000 0008"}')).text);
  note((await mint('{"card_number":"5123450000000008","cvv":"987"}')).text);
  note((await mint(`{"amount":"${PIN}","currency":"${PIN}","customer_reference":{"x":"${PIN}"}`)).text);
  note((await world.call('GET', `/payments/status/${big.token}`, { bearer: open.token })).text);
  note((await world.call('GET', `/${merchant.secret}?pin=${PIN}`, {})).text);
  note((await world.call('GET', '/payments/status/txn_x', { bearer: `${big.token}x` })).text);
  note((await sendRaw(world, rawPost('/payments/collect', [`Authorization : Bearer ${big.token}`], '{}'))).text);
  note((await collectWith(world, open.token, 'flash', { notify_url: world.receiver.url })).payment_id);
  await world.pass(31 * 60_000);
  await world.gateway.courier.idle();
});

test('none of them is in the log, at any level', () => {
  expect(world.log.lines.length).toBeGreaterThan(20);
  expect(
    found(world.log.lines.join('\n'), new Map([...secrets, ...personal, ['email', 'canary@shop.example']])),
  ).toEqual([]);
  // Nor are headers or addresses with their values.
  expect(world.log.lines.filter((line) => /Bearer [^*]|\?pin=/.test(line))).toEqual([]);
});

test('none of them is in a refusal', () => {
  expect(refusals.length).toBeGreaterThan(10);
  expect(found(refusals.join('\n'), new Map([...secrets, ...personal]))).toEqual([]);
});

test('none of them is in a webhook', () => {
  expect(world.receiver.hooks.length).toBeGreaterThan(3);
  const sent = world.receiver.hooks.map(({ raw, headers }) => raw + JSON.stringify(headers)).join('\n');
  expect(found(sent, new Map([...secrets, ...personal]))).toEqual([]);
});

test('none of them is in the database, in any encoding', async () => {
  const tables = await tablesOf(world);
  expect(tables.length).toBeGreaterThan(10);
  for (const name of tables) {
    const rows = await rowsOf<{ row: string }>(world, `select t::text as row from ${name} t`);
    expect(found(rows.map(({ row }) => row).join('\n'), secrets), name).toEqual([]);
  }
});

/** Which of these the text contains: as they are, in hexadecimal or in base64. */
function found(text: string, wanted: ReadonlyMap<string, string>): string[] {
  const squeezed = text.replaceAll(/(\d)[ -](?=\d)/g, '$1');
  return [...wanted].flatMap(([what, secret]) => {
    const bytes = Buffer.from(secret);
    const forms = [
      secret,
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
    ];
    // Six digits may be in a longer number or an identifier by chance: there they are not a code.
    const whole = /^\d{6}$/.test(secret) ? [new RegExp(`(?<![0-9a-z.])${secret}(?![0-9a-z])`, 'i')] : [];
    const seen =
      whole.length > 0
        ? whole.some((form) => form.test(text))
        : forms.some((form) => text.includes(form) || squeezed.includes(form));
    return seen ? [what] : [];
  });
}
