/** Bodies of payouts that are refused: every fault is named at once, and nothing is made. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payoutFaults, payoutOrder } from '../../src/http/payout-faults.ts';
import { LANGUAGES } from '../../src/messages/messages.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { expectRefusal } from '../support/envelope.ts';
import type { Fields } from '../support/flows.ts';
import { createPayout, faultsOf, lines, payee, payoutBody } from '../support/payout-flows.ts';
import { openPayer } from '../support/payout-lines.ts';
import { countRows } from '../support/rows.ts';
import { type Answer, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let token: string;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await openPayer(world, 2_000_000_00n);
  ({ token } = await mint(world, merchant, { scope: 'payout', ttl_seconds: 86_400 }));
});
afterAll(() => world.close());

const send = (body: Fields, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  world.call('POST', '/payments/send', { bearer: token, body, headers });

const scheduled = (scheduled_dates: unknown): Fields => ({ sending_type: 'scheduled', scheduled_dates });
const recurring = (more: Fields): Fields => ({
  sending_type: 'recurring',
  recurring_frequency: 'monthly',
  recurring_start_date: '2027-01-31',
  recurring_occurrences: 12,
  ...more,
});
const line = (more: Fields): Fields => ({ beneficiaries: [{ phone_number: payee(1), amount: '2.00', ...more }] });
const wallets = (more: Fields): Fields => ({ receipt_mode: 'wallet', ...more });
const days = (count: number): string[] =>
  Array.from({ length: count }, (_, day) => new Date(Date.UTC(2027, 0, 1 + day)).toISOString().slice(0, 10));

const CASES: readonly (readonly [string, Fields, string, readonly string[]])[] = [
  ['a mode that does not exist', { receipt_mode: 'cash' }, '1103', ['receipt_mode NOT_AN_OPTION']],
  ['a mode of another type', { receipt_mode: 5 }, '1103', ['receipt_mode NOT_AN_OPTION']],
  ['an unknown currency', { currency: 'dollars' }, '1102', ['currency INVALID_CURRENCY']],
  ['capitals in the currency', { currency: 'USD' }, '1102', ['currency INVALID_CURRENCY']],
  ['an amount of zero', line({ amount: '0' }), '1101', ['beneficiaries[0].amount INVALID_AMOUNT']],
  ['0.00', line({ amount: '0.00' }), '1101', ['beneficiaries[0].amount INVALID_AMOUNT']],
  ['a negative amount', line({ amount: '-1' }), '1101', ['beneficiaries[0].amount INVALID_AMOUNT']],
  ['too precise an amount', line({ amount: '1.001' }), '1101', ['beneficiaries[0].amount INVALID_AMOUNT']],
  ['a JSON number', line({ amount: 2 }), '1101', ['beneficiaries[0].amount INVALID_AMOUNT']],
  ['an exponent', line({ amount: '1e3' }), '1101', ['beneficiaries[0].amount INVALID_AMOUNT']],
  ['no amount', line({ amount: null }), '1109', ['beneficiaries[0].amount REQUIRED']],
  [
    'a total of 1000000.01',
    { beneficiaries: [...lines(1, '999999.99'), { phone_number: payee(9), amount: '0.02' }] },
    '1101',
    ['beneficiaries PAYOUT_TOTAL'],
  ],
  ['one line above the total', line({ amount: '1000000.01' }), '1101', ['beneficiaries PAYOUT_TOTAL']],
  ['101 lines', { beneficiaries: lines(101) }, '1207', ['beneficiaries TOO_LONG']],
  ['no lines', { beneficiaries: [] }, '1110', ['beneficiaries TOO_SHORT']],
  ['no list', { beneficiaries: null }, '1109', ['beneficiaries REQUIRED']],
  ['an object for a list', { beneficiaries: {} }, '1110', ['beneficiaries WRONG_TYPE']],
  [
    'lines that are none',
    { beneficiaries: ['x', null, ...lines(1)] },
    '1110',
    ['beneficiaries[0] WRONG_TYPE', 'beneficiaries[1] WRONG_TYPE'],
  ],
  [
    'a wallet line in mobile money',
    { beneficiaries: [...lines(1), { wallet_number: '5707000000000000', amount: '1' }] },
    '1109',
    ['beneficiaries[1].phone_number REQUIRED'],
  ],
  [
    'a phone line to wallets',
    wallets({ beneficiaries: lines(1) }),
    '1109',
    ['beneficiaries[0].wallet_number REQUIRED'],
  ],
  ['an empty identifier', line({ phone_number: '' }), '1109', ['beneficiaries[0].phone_number REQUIRED']],
  ['an empty wallet number', wallets(line({ wallet_number: '' })), '1109', ['beneficiaries[0].wallet_number REQUIRED']],
  [
    'one number written in three ways',
    {
      beneficiaries: ['+243 81 000 12 34', '00243810001234', '+243810001234', payee(3)].map((phone_number) => ({
        phone_number,
        amount: '1.00',
      })),
    },
    '1110',
    ['beneficiaries[1].phone_number DUPLICATE_BENEFICIARY', 'beneficiaries[2].phone_number DUPLICATE_BENEFICIARY'],
  ],
  [
    'one wallet twice',
    wallets({ beneficiaries: ['5707 0000', '57070000'].map((wallet_number) => ({ wallet_number, amount: '1' })) }),
    '1110',
    ['beneficiaries[1].wallet_number DUPLICATE_BENEFICIARY'],
  ],
  [
    'a number without its country',
    line({ phone_number: '0810001234' }),
    '1110',
    ['beneficiaries[0].phone_number INVALID_PHONE_NUMBER'],
  ],
  [
    'no number at all',
    line({ phone_number: 'nobody' }),
    '1110',
    ['beneficiaries[0].phone_number INVALID_PHONE_NUMBER'],
  ],
  [
    'a number of another type',
    line({ phone_number: 243810001234 }),
    '1110',
    ['beneficiaries[0].phone_number INVALID_PHONE_NUMBER'],
  ],
  [
    'a currency that the carrier does not take',
    { currency: 'ugx', beneficiaries: lines(1, '2') },
    '1103',
    ['beneficiaries[0].phone_number CARRIER_CURRENCY'],
  ],
  [
    'a country without a carrier of ours',
    line({ phone_number: '+33612345678' }),
    '1103',
    ['beneficiaries[0].phone_number NO_CARRIER'],
  ],
  ['no notify_url', { notify_url: null }, '1109', ['notify_url REQUIRED']],
  ['an empty notify_url', { notify_url: '' }, '1110', ['notify_url INVALID_URL']],
  ['credentials in notify_url', { notify_url: 'http://a:b@127.0.0.1/' }, '1110', ['notify_url INVALID_URL']],
  ['a file for notify_url', { notify_url: 'file:///etc/passwd' }, '1110', ['notify_url INVALID_URL']],
  ['no reference', { customer_reference: '' }, '1110', ['customer_reference TOO_SHORT']],
  ['a reference of two lines', { customer_reference: 'a\nb' }, '1110', ['customer_reference INVALID_TEXT']],
  ['a long note', { note: 'x'.repeat(161) }, '1110', ['note TOO_LONG']],
  ['a note of two lines', { note: 'a\nb' }, '1110', ['note INVALID_TEXT']],
  ['another sending_type', { sending_type: 'later' }, '1110', ['sending_type NOT_AN_OPTION']],
  ['dry_run as text', { dry_run: 'true' }, '1110', ['dry_run WRONG_TYPE']],
  ['no dates', scheduled(undefined), '1109', ['scheduled_dates REQUIRED']],
  ['null for dates', scheduled(null), '1109', ['scheduled_dates REQUIRED']],
  ['an empty list of dates', scheduled([]), '1110', ['scheduled_dates TOO_SHORT']],
  ['one date alone', scheduled('2027-01-01'), '1110', ['scheduled_dates WRONG_TYPE']],
  ['367 dates', scheduled(days(367)), '1110', ['scheduled_dates TOO_LONG']],
  ['the 30th of February', scheduled(['2027-02-28', '2027-02-30']), '1110', ['scheduled_dates[1] INVALID_DATE']],
  [
    'a date of another form',
    scheduled(['01/02/2027', 20270101]),
    '1110',
    ['scheduled_dates[0] INVALID_DATE', 'scheduled_dates[1] INVALID_DATE'],
  ],
  ['a time for a date', scheduled(['2027-01-01T00:00:00Z']), '1110', ['scheduled_dates[0] INVALID_DATE']],
  [
    'a year that is a slip',
    scheduled(['2999-12-31', '3000-01-01', '9999-12-31', '3001-02-29', '0026-12-01']),
    '1110',
    [
      'scheduled_dates[1] YEAR_OUT_OF_RANGE',
      'scheduled_dates[2] YEAR_OUT_OF_RANGE',
      'scheduled_dates[3] INVALID_DATE',
      'scheduled_dates[4] DATE_PAST',
    ],
  ],
  ['yesterday', scheduled(['2026-11-19']), '1110', ['scheduled_dates[0] DATE_PAST']],
  [
    'a date twice',
    scheduled(['2027-01-01', '2027-01-02', '2027-01-01']),
    '1110',
    ['scheduled_dates[2] DUPLICATE_DATE'],
  ],
  [
    'nothing of what recurs',
    { sending_type: 'recurring' },
    '1109',
    ['recurring_frequency REQUIRED', 'recurring_start_date REQUIRED', 'recurring_occurrences REQUIRED'],
  ],
  ['another frequency', recurring({ recurring_frequency: 'yearly' }), '1110', ['recurring_frequency NOT_AN_OPTION']],
  [
    'a start that does not exist',
    recurring({ recurring_start_date: '2027-02-29' }),
    '1110',
    ['recurring_start_date INVALID_DATE'],
  ],
  [
    'a start in the past',
    recurring({ recurring_start_date: '2026-11-19' }),
    '1110',
    ['recurring_start_date DATE_PAST'],
  ],
  [
    'a start in a year that is a slip',
    recurring({ recurring_start_date: '3026-12-01' }),
    '1110',
    ['recurring_start_date YEAR_OUT_OF_RANGE'],
  ],
  ['no occurrence', recurring({ recurring_occurrences: 0 }), '1110', ['recurring_occurrences OUT_OF_RANGE']],
  ['367 occurrences', recurring({ recurring_occurrences: 367 }), '1110', ['recurring_occurrences OUT_OF_RANGE']],
  ['half an occurrence', recurring({ recurring_occurrences: 1.5 }), '1110', ['recurring_occurrences WRONG_TYPE']],
  ['occurrences as text', recurring({ recurring_occurrences: '3' }), '1110', ['recurring_occurrences WRONG_TYPE']],
];

describe('a body', () => {
  test.each(CASES)('with %s is refused: %#', async (_what, more, code, faults) => {
    const before = await countRows(world);
    const answer = await send(payoutBody(world, more));
    expectRefusal(answer, 400, code);
    expect(faultsOf(answer)).toEqual(faults);
    expect(await countRows(world)).toEqual(before);
  });

  test('has every bad field reported at once, missing ones first, then in the order of the fields', async () => {
    const answer = await send({
      currency: 'dollars',
      receipt_mode: 'mobile_money',
      notify_url: 'ftp://x',
      sending_type: 'scheduled',
      scheduled_dates: ['2026-01-01'],
      beneficiaries: [
        { phone_number: payee(1), amount: 5 },
        { phone_number: 'nobody', amount: '1' },
        { amount: '-1' },
        { phone_number: payee(1), amount: '1' },
      ],
      note: 'a\nb',
    });
    expectRefusal(answer, 400, '1109');
    expect(faultsOf(answer)).toEqual([
      'customer_reference REQUIRED',
      'beneficiaries[2].phone_number REQUIRED',
      'currency INVALID_CURRENCY',
      'notify_url INVALID_URL',
      'scheduled_dates[0] DATE_PAST',
      'beneficiaries[0].amount INVALID_AMOUNT',
      'beneficiaries[1].phone_number INVALID_PHONE_NUMBER',
      'beneficiaries[2].amount INVALID_AMOUNT',
      'beneficiaries[3].phone_number DUPLICATE_BENEFICIARY',
      'note INVALID_TEXT',
    ]);
  });

  test('with every field of a hundred lines wrong, is reported completely, missing fields first', async () => {
    const dates = Array.from({ length: 366 }, () => 'no date');
    const beneficiaries = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? { amount: 5 } : { phone_number: 5 }));
    const more = { sending_type: 'scheduled', scheduled_dates: dates, beneficiaries, note: 'a\nb' };
    const answer = await send(payoutBody(world, more));
    expectRefusal(answer, 400, '1109');
    const faults = faultsOf(answer);
    expect(faults).toHaveLength(100 + 366 + 100 + 1);
    expect(faults.slice(0, 3)).toEqual([
      'beneficiaries[0].phone_number REQUIRED',
      'beneficiaries[1].amount REQUIRED',
      'beneficiaries[2].phone_number REQUIRED',
    ]);
    expect(faults.at(-1)).toBe('note INVALID_TEXT');
  });

  test('may contain the other mode’s field, or another way’s dates: they are ignored', async () => {
    const of = (wallet_number: unknown) => line({ wallet_number });
    const blank = {
      scheduled_dates: [''],
      recurring_start_date: '',
      recurring_frequency: 'none',
      recurring_occurrences: 1,
    };
    const zeros = { scheduled_dates: {}, recurring_start_date: '0001-01-01T00:00:00', recurring_occurrences: '1' };
    const dated = { sending_type: 'immediate', scheduled_dates: ['2027-02-28'] };
    for (const more of [of(''), of('5707000000000000'), of(null), blank, zeros, dated]) {
      const answer = await send(payoutBody(world, { ...more, dry_run: true }));
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json.sending_type).toBe('immediate');
    }
  });

  test('that is empty is told all the required fields', async () => {
    const answer = await send({});
    expectRefusal(answer, 400, '1109');
    expect(faultsOf(answer)).toEqual(
      ['customer_reference', 'currency', 'receipt_mode', 'notify_url', 'beneficiaries'].map(
        (field) => `${field} REQUIRED`,
      ),
    );
  });

  test('is told in six languages what to do', async () => {
    const bad = payoutBody(world, {
      ...scheduled(['2026-11-19', '2027-02-30', '2027-01-01', '2027-01-01']),
      beneficiaries: [...lines(1, '999999'), ...lines(1, '2')],
    });
    const seen = new Set<string>();
    for (const language of LANGUAGES) {
      const answer = await send(bad, { 'accept-language': language });
      expectRefusal(answer, 400, '1110');
      expect(answer.text).not.toContain('…');
      for (const { message } of answer.json.details) seen.add(message);
    }
    expect(seen.size).toBe(5 * LANGUAGES.length);
  });

  test('names the carriers and currencies that would work', async () => {
    const wrong = await send(payoutBody(world, { currency: 'ugx', beneficiaries: lines(1, '2') }));
    expect(wrong.json.details[0].message).toMatch(/Vodacom M-Pesa.*usd, cdf/);
    const none = await send(payoutBody(world, line({ phone_number: '+33612345678' })));
    expect(none.json.details[0].message).toContain('(CD)');
  });

  test('in a currency or with a host that the merchant may not use is refused', async () => {
    const bound = await openPayer(world, 100n);
    await setMerchant(world.gateway.deps, bound.merchant.id, { currencies: ['cdf'], url_hosts: ['hooks.example'] });
    const answer = await createPayout(world, bound);
    expectRefusal(answer, 400, '1102');
    expect(faultsOf(answer)).toEqual(['currency CURRENCY_NOT_ALLOWED', 'notify_url URL_NOT_ALLOWED']);
  });
});

test('a date that passes between the validation and the order is refused as past', async () => {
  const { deps } = world.gateway;
  const today = new Date(world.clock.now()).toISOString().slice(0, 10);
  const body = { ...payoutBody(world), ...scheduled([today]) } as Parameters<typeof payoutOrder>[2];
  expect(payoutFaults(deps, merchant.merchant, body)).toEqual([]);
  const tomorrow = Date.parse(`${today}T00:00:00Z`) + 86_400_000;
  const later = { ...deps, clock: { ...deps.clock, now: () => tomorrow } };
  expect(() => payoutOrder(later, merchant.merchant, body, 'en')).toThrow(
    expect.objectContaining({ code: 1110, more: { details: [expect.objectContaining({ code: 'DATE_PAST' })] } }),
  );
});
