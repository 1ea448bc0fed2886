import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURRENCIES, exponentOf } from '../../domain/currency.ts';
import { formatMinor } from '../../domain/money.ts';
import { COLLECTION, DISBURSEMENT } from './products.ts';
import { accountOf, referenceFor } from './reference.ts';
import { readStart, readStatus } from './statuses.ts';

const anything = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      status: fc.oneof(fc.constantFrom('SUCCESSFUL', 'FAILED', 'PENDING', 'toString', '__proto__'), fc.jsonValue()),
      reason: fc.oneof(fc.constantFrom('EXPIRED', 'constructor'), fc.jsonValue()),
      amount: fc.oneof(fc.constantFrom('1', '1.00'), fc.jsonValue()),
      currency: fc.constantFrom('USD', 'usd', 'UGX'),
      externalId: fc.constantFrom('att_1', 'att_2'),
      code: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

const ORDERED = { attemptId: 'att_1', amountMinor: 100n, currency: 'usd' } as const;
/** What an answer says again of the order. */
const ECHO = { externalId: 'att_1', amount: '1.00', currency: 'USD' } as const;

test('whatever arrives is read without an exception, and nothing outside the table is trusted', () => {
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), anything, fc.boolean(), (status, body, takes) => {
      const product = takes ? COLLECTION : DISBURSEMENT;
      const { answer } = readStatus({ kind: 'answered', status, body }, ORDERED, product);
      if (answer.kind === 'approved') {
        expect(status).toBe(200);
        expect(body).toMatchObject({ status: 'SUCCESSFUL', currency: 'USD', externalId: 'att_1' });
      }
      const started = readStart({ kind: 'answered', status, body }, product).answer;
      expect(['waiting', 'declined', 'not_sent', 'unknown']).toContain(started.kind);
      // A customer may try again: only a payout is finally declined before it is accepted.
      if (started.kind === 'declined')
        expect([takes, status === 500 || (status >= 400 && status < 500)]).toEqual([false, true]);
    }),
  );
});

describe.each([COLLECTION, DISBURSEMENT])('a code counts only with its status ($name)', (product) => {
  const kindOf = (status: number, code?: string) =>
    readStart({ kind: 'answered', status, body: { code } }, product).answer.kind;
  const codes = Object.keys(product.refusals);

  test('an order is refused by a code only if the answer is a refusal of the order', () => {
    for (const code of codes) {
      for (const status of [400, 404, 499, 500]) expect(['not_sent', 'declined']).toContain(kindOf(status, code));
      // What may have been accepted, or was not answered by MTN itself, is inquired about.
      for (const status of [200, 302, 399, 409, 501, 503]) expect(kindOf(status, code)).toBe(kindOf(status));
    }
  });

  test('an order has a status only if the answer is 200: a body beside a failure of theirs is no answer', () => {
    const body = { status: 'SUCCESSFUL', amount: '1', currency: 'USD', externalId: 'att_1' };
    const read = (status: number) => readStatus({ kind: 'answered', status, body }, ORDERED, product).answer.kind;
    expect([200, 202, 404, 500].map(read)).toEqual(['approved', 'unknown', 'unknown', 'unknown']);
  });

  test('an order is taken already only if the answer is about its reference', () => {
    for (const status of [400, 409]) expect(kindOf(status, 'RESOURCE_ALREADY_EXIST')).toBe('waiting');
    expect([kindOf(409), kindOf(500, 'RESOURCE_ALREADY_EXIST')]).toEqual([kindOf(409, 'OTHER'), kindOf(500)]);
    expect(kindOf(409)).toBe('unknown');
  });

  test('a reference is unknown only if MTN says so', () => {
    const inquired = (status: number, code?: string) =>
      readStatus({ kind: 'answered', status, body: { code } }, ORDERED, product).answer.kind;
    expect(inquired(404, 'RESOURCE_NOT_FOUND')).toBe('not_found');
    expect([inquired(404), inquired(400, 'RESOURCE_NOT_FOUND'), inquired(500, 'RESOURCE_NOT_FOUND')]).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
  });
});

describe('a transfer that is refused at its start', () => {
  const started = (status: number, code?: string) =>
    readStart({ kind: 'answered', status, body: { code } }, DISBURSEMENT).answer;

  test.each([
    [400, undefined, 'carrier_failed'],
    [500, 'INVALID_CURRENCY', 'carrier_failed'],
    [500, 'PAYEE_NOT_FOUND', 'payee_unknown'],
    [500, 'PAYEE_NOT_ALLOWED_TO_RECEIVE', 'payee_blocked'],
  ])('fails if it would be refused every time: %i %s', (status, code, reason) => {
    expect(started(status, code)).toEqual({ kind: 'declined', reason, providerReference: null });
  });

  test.each([
    [401, undefined],
    [403, undefined],
    [404, undefined],
    [500, 'NOT_ALLOWED'],
    [500, 'NOT_ALLOWED_TARGET_ENVIRONMENT'],
    [500, 'INVALID_CALLBACK_URL_HOST'],
    [500, 'PAYER_NOT_FOUND'],
  ])('waits for an operator if our access or our account is at fault: %i %s', (status, code) => {
    expect(started(status, code)).toMatchObject({ kind: 'not_sent', lasting: 'operator_needed' });
  });

  test.each([
    [429, undefined],
    [503, undefined],
    [500, 'SERVICE_UNAVAILABLE'],
  ])('is sent again later if MTN has too much to do: %i %s', (status, code) => {
    expect(started(status, code)).toEqual({ kind: 'not_sent', reason: expect.any(String) });
  });
});

test.each(['amount', 'currency', 'externalId'])(
  'an answer that lacks its %s is not about what was ordered',
  (field) => {
    const body = { amount: '1.00', currency: 'USD', externalId: 'att_1', status: 'SUCCESSFUL', [field]: undefined };
    expect(readStatus({ kind: 'answered', status: 200, body }, ORDERED, DISBURSEMENT)).toEqual({
      answer: { kind: 'unknown', reason: `another ${field} than ordered` },
      alarm: { kind: 'mismatch', what: field },
    });
  },
);

test.each([
  ['FAILED', 'NOBODY_KNOWS_THIS', 'NOBODY_KNOWS_THIS'],
  ['FAILED', undefined, 'no reason'],
])('%s for the reason %s is declined, and an operator is told of it', (status, reason, what) => {
  const body = { ...ECHO, status, reason };
  expect(readStatus({ kind: 'answered', status: 200, body }, ORDERED, COLLECTION)).toMatchObject({
    answer: { kind: 'declined', reason: 'carrier_failed' },
    alarm: { kind: 'unfamiliar', what },
  });
});

test.each(['PAYEE_NOT_FOUND', 'PAYEE_NOT_ALLOWED_TO_RECEIVE', 'PAYEE_LIMIT_REACHED'])(
  '%s beside a payment is about our own account: the customer is not told of it, and an operator is',
  (reason) => {
    const result = { kind: 'answered', status: 200, body: { ...ECHO, status: 'FAILED', reason } } as const;
    expect(readStatus(result, ORDERED, COLLECTION)).toMatchObject({
      answer: { kind: 'declined', reason: 'carrier_failed' },
      alarm: { kind: 'ours', what: reason },
    });
  },
);

test.each([
  [COLLECTION, 'customer_rejected'],
  [DISBURSEMENT, 'carrier_failed'],
])('REJECTED without a reason: only of a payment it is the customer who has rejected it ($name)', (product, reason) => {
  const result = { kind: 'answered', status: 200, body: { ...ECHO, status: 'REJECTED' } } as const;
  const answer = { kind: 'declined', reason, providerReference: null };
  expect(readStatus(result, ORDERED, product)).toEqual({ answer });
});

test('an amount and a transaction id may be numbers, as in an example of theirs', () => {
  const ordered = { attemptId: 'att_1', amountMinor: 100_00n, currency: 'usd' } as const;
  const answerWith = (amount: unknown) => {
    const body = {
      status: 'SUCCESSFUL',
      amount,
      currency: 'USD',
      externalId: 'att_1',
      financialTransactionId: 23503452,
    };
    return readStatus({ kind: 'answered', status: 200, body }, ordered, COLLECTION).answer;
  };
  expect(answerWith(100)).toEqual({ kind: 'approved', providerReference: '23503452' });
  for (const other of [100.5, 1e21, Number.NaN, '1e2']) expect(answerWith(other).kind).toBe('unknown');
});

test('an amount is compared as money: zeros beyond the currency’s digits do not matter, other digits do', () => {
  const currencies = fc.constantFrom(...CURRENCIES);
  fc.assert(
    fc.property(
      currencies,
      fc.bigInt(1n, 10n ** 15n - 2n),
      fc.nat(4),
      fc.boolean(),
      (currency, minor, zeros, wrong) => {
        const exact = formatMinor(wrong ? minor + 1n : minor, currency);
        const amount = zeros === 0 ? exact : `${exact}${exponentOf(currency) === 0 ? '.' : ''}${'0'.repeat(zeros)}`;
        const body = { amount, currency: currency.toUpperCase(), externalId: 'att_1', status: 'SUCCESSFUL' };
        const ordered = { attemptId: 'att_1', amountMinor: minor, currency };
        const { answer } = readStatus({ kind: 'answered', status: 200, body }, ordered, COLLECTION);
        expect(answer.kind).toBe(wrong ? 'unknown' : 'approved');
      },
    ),
  );
});

test.each(['100.004', '1e2', '+100', '100,00', '', ' 100', '0100', '٣', '100.'.padEnd(60, '0')])(
  'the amount %j is not 100.00',
  (amount) => {
    const body = { ...ECHO, amount, status: 'SUCCESSFUL' };
    const ordered = { ...ORDERED, amountMinor: 10_000n };
    expect(readStatus({ kind: 'answered', status: 200, body }, ordered, COLLECTION).answer.kind).toBe('unknown');
  },
);

test('an account is told by the host, the market and the API user, whatever its key and path', () => {
  const config = { baseUrl: 'https://momo.example/a', targetEnvironment: 'mtnuganda', apiUser: 'one' };
  const account = accountOf(config);
  for (const other of [{ baseUrl: 'https://other.example/a' }, { targetEnvironment: 'mtnghana' }, { apiUser: 'two' }])
    expect(accountOf({ ...config, ...other })).not.toBe(account);
  expect(accountOf({ ...config, baseUrl: 'https://momo.example:8443/b' })).toBe(account);
});

test('a reference is a version 4 UUID and depends only on the attempt', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(referenceFor(one)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(referenceFor(one) === referenceFor(other)).toBe(one === other);
    }),
  );
  // Pinned, because a change of the rule would send every open attempt again under another reference.
  expect(referenceFor('att_01jd4zq8c0fys81x40000000g7')).toMatchInlineSnapshot(
    `"7ce1da8e-264f-4900-9f35-9d78c9393fac"`,
  );
});

test.each([['12\u00003'], [`${'x'.repeat(63)}\u{1f600}`], ['12 3'], [''], [1.5], [2 ** 60], [null]])(
  'MTN’s id for a movement is dropped if it cannot be stored (%j), and the money counts',
  (financialTransactionId) => {
    const body = { amount: '1.00', currency: 'USD', externalId: 'att_1', status: 'SUCCESSFUL', financialTransactionId };
    const { answer } = readStatus({ kind: 'answered', status: 200, body }, ORDERED, COLLECTION);
    expect(answer).toEqual({ kind: 'approved', providerReference: null });
  },
);
