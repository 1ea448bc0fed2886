/** Web pages may call with a session token, but never with the merchant's credential. */
import { expect, test } from 'vitest';
import { smallWorld } from './testing/small-world.ts';

const PREFLIGHT = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
const { app, sessionAuth, merchantAuth } = smallWorld();
const preflight = (url: string, headers: Record<string, string> = PREFLIGHT) =>
  app.inject({ method: 'OPTIONS', url, headers });

test('the preflight of a session’s call is answered', async () => {
  const answer = await preflight('/api/v1/payments/pay');
  expect([answer.statusCode, answer.body]).toEqual([204, '']);
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers':
      'Authorization, Content-Type, Idempotency-Key, X-Device-Fingerprint, Accept-Language',
  });
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  const reading = await preflight('/api/v1/payments/status/0123456789');
  expect(reading.headers['access-control-allow-methods']).toBe('GET');
});

test('an OPTIONS that is not a preflight is a method that the path does not support', async () => {
  const answer = await preflight('/api/v1/payments/pay', {});
  expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST']);
});

test('a page can read answers, including failures', async () => {
  const url = '/api/v1/payments/pay';
  const authorization = sessionAuth;
  const answers = await Promise.all([
    app.inject({ method: 'POST', url, headers: { authorization }, payload: {} }),
    app.inject({ method: 'POST', url, payload: {} }),
    app.inject({ method: 'POST', url, headers: { authorization, 'content-type': 'text/plain' }, payload: 'x' }),
    app.inject({ method: 'GET', url: '/api/v1/payments/status/0123456789', headers: { authorization } }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 401, 415, 200]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'X-Request-Id, Retry-After, Idempotent-Replayed, RateLimit, RateLimit-Policy',
    });
  }
});

test('pages cannot make the merchant’s calls', async () => {
  expect((await preflight('/api/v1/orders')).statusCode).toBe(405);
  const answer = await app.inject({ method: 'POST', url: '/api/v1/orders', headers: { authorization: merchantAuth } });
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
});
