/**
 * Whatever is sent: never a 5xx, always the envelope, and no refused call runs (reliability §1.2).
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ENVELOPE_FIELDS } from '../../test/support/envelope.ts';
import { smallWorld } from './testing/small-world.ts';

const world = smallWorld({ rateLimitScale: 0 });

interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly payload?: string;
}

async function requireSane(sent: Sent): Promise<void> {
  const before = world.rows.runs;
  const answer = await world.app.inject(sent);
  expect(answer.statusCode).toBeLessThan(500);
  if (answer.statusCode < 400) return;
  expect(world.rows.runs).toBe(before);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  if (sent.method === 'HEAD') return;
  const envelope = answer.json<Record<string, unknown>>();
  expect(Object.keys(envelope)).toEqual(ENVELOPE_FIELDS);
  expect(envelope.request_id).toBe(answer.headers['x-request-id']);
}

const odd = fc.constantFrom<unknown>(
  '1e3',
  '-0',
  '٣',
  '１',
  ' 1',
  '1\n',
  '\u0000',
  '\ud800',
  '',
  null,
  true,
  10,
  ['5'],
  {},
  1e308,
);
const key = fc.oneof(
  fc.constantFrom('amount', 'currency', 'payment_method', 'email', 'note', 'count', 'lines'),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'polluted', 'cvv', 'length'),
  fc.string({ unit: 'binary' }),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, odd, fc.string({ unit: 'binary' }), fc.double(), tie('list'), tie('object')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(key, tie('any'), { maxKeys: 4 }),
}));
const good = fc.constantFrom({}, { amount: '12.50', currency: 'usd', payment_method: 'wallet' });
const body = fc
  .tuple(good, fc.dictionary(key, value.any))
  .map(([first, more]) => JSON.stringify({ ...first, ...more }));
const broken = fc
  .tuple(body, fc.nat(60), fc.string({ unit: 'binary' }))
  .map(([text, at, noise]) => text.slice(0, at) + noise + text.slice(at));
const visible = fc.string({ unit: fc.constantFrom(...' !"#,-./019:;=AZ[]az{}~\u00e9\t'.split('')), maxLength: 300 });

it('a body of any form is answered, and never as a bug of ours', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(body, broken), fc.boolean(), fc.boolean(), (payload, isMerchant, hasKey) =>
      requireSane({
        method: 'POST',
        url: isMerchant ? '/api/v1/orders' : '/api/v1/payments/pay',
        headers: {
          authorization: isMerchant ? world.merchantAuth : world.sessionAuth,
          'content-type': 'application/json',
          ...(hasKey ? { 'idempotency-key': 'fuzz' } : {}),
        },
        payload,
      }),
    ),
    { numRuns: 3_000 },
  );
});

it('headers of any form are answered, and never as a bug of ours', async () => {
  const name = fc.constantFrom(
    'idempotency-key',
    'x-device-fingerprint',
    'accept-language',
    'content-type',
    'authorization',
    'x-forwarded-for',
    'content-encoding',
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, visible), (headers) =>
      requireSane({
        method: 'POST',
        url: '/api/v1/orders',
        headers: { authorization: world.merchantAuth, 'content-type': 'application/json', ...headers },
        payload: '{"amount":"12.50","currency":"usd","payment_method":"wallet"}',
      }),
    ),
    { numRuns: 1_000 },
  );
});

it('any path and method are answered, and never as a bug of ours', async () => {
  const piece = fc.oneof(
    fc.constantFrom('api', 'v1', 'payments', 'status', 'orders', '..', '%00', '%zz', '%2e', '%ed%a0%80'),
    fc.webSegment(),
  );
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD');
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 6 }),
      fc.webQueryParameters(),
      method,
      async (pieces, query, verb) => {
        const headers = { authorization: world.sessionAuth };
        await requireSane({ method: verb, url: `/${pieces.join('/')}?${query}`, headers });
        await requireSane({ method: 'GET', url: `/api/v1/payments/status/${pieces.join('')}`, headers });
      },
    ),
    { numRuns: 1_000 },
  );
});
