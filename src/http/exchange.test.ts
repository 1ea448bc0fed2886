/** What a failure tells its caller besides its code: whether to call again, and with which credential. */
import { Type } from 'typebox';
import { expect, test, vi } from 'vitest';
import { Refusal } from '../domain/refusal.ts';
import { CommitUnknown } from '../store/errors.ts';
import { defineRoute } from './route.ts';
import { smallWorld } from './testing/small-world.ts';

const BODY = { amount: '12.50', currency: 'usd', payment_method: 'wallet' };

test('a commit in doubt may be repeated by a read, or under its key, and by no other call', async () => {
  const read = defineRoute({
    method: 'GET',
    path: '/asked',
    operationId: 'asked',
    summary: 'Asks an upstream',
    description: 'Writes what the upstream says.',
    credential: 'none',
    limit: 'none',
    loadClass: 'read',
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: () => Promise.reject(new CommitUnknown()),
  });
  const { app, rows, merchantAuth } = smallWorld({ routes: [read] });
  rows.trouble = new CommitUnknown();
  const post = (headers: Readonly<Record<string, string>>) =>
    app.inject({
      method: 'POST',
      url: '/api/v1/orders',
      headers: { authorization: merchantAuth, ...headers },
      payload: BODY,
    });
  const answers = [await post({}), await post({ 'idempotency-key': 'k' }), await app.inject('/api/v1/asked')];
  expect(answers.map((answer) => [answer.statusCode, answer.json().retryable, answer.headers['retry-after']])).toEqual([
    [503, false, undefined],
    [503, true, '1'],
    [503, true, '1'],
  ]);
});

test('a refused credential is answered with the challenge for another, and with no limit that was not reached', async () => {
  const { headers } = await smallWorld().app.inject({ method: 'POST', url: '/api/v1/orders', payload: BODY });
  expect([headers['www-authenticate'], headers.ratelimit]).toEqual(['Bearer realm="mbongo"', undefined]);
});

test('a refusal that is remembered is sent in the bytes that are remembered, though time passes until it leaves', async () => {
  const { app, clock, rows, merchantAuth } = smallWorld();
  let now = clock.now();
  vi.spyOn(clock, 'now').mockImplementation(() => (now += 1));
  const headers = { authorization: merchantAuth, 'idempotency-key': 'k' };
  const post = () => app.inject({ method: 'POST', url: '/api/v1/orders', headers, payload: BODY });
  rows.trouble = new Refusal(1201);
  const [first, again] = [await post(), await post()];
  expect([first, again].map((answer) => answer.headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  expect(again.body).toBe(first.body);
});
