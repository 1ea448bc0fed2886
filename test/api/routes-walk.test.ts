/**
 * A walk over the route table: each route is documented, works, is refused as it must be, and repeats its answer to the byte.
 */

import { afterAll, describe, expect, test } from 'vitest';
import { fullPath } from '../../src/http/route.ts';
import { expectRefusal, withoutIds } from '../support/envelope.ts';
import { neighbourOf } from '../support/flows.ts';
import { credentialRoutes, named, requireWorks, sampleOf, send } from '../support/route-samples.ts';
import { openWorld } from '../support/world.ts';

// The table is walked at collection, so that each route's tests carry its name.
const world = await openWorld({ env: { TRUST_PROXY: '127.0.0.1' } });
const merchant = await world.merchant();
const stranger = await neighbourOf(world, merchant);
const routes = credentialRoutes(world);
afterAll(() => world.close());

test('the table has every endpoint that this release carries out', () => {
  expect(routes.map((route) => `${route.method} ${route.path}`).sort()).toMatchInlineSnapshot(`
    [
      "GET /internal/availability",
      "GET /internal/balances",
      "GET /internal/events",
      "GET /internal/events/:id",
      "GET /internal/payouts",
      "GET /internal/payouts/:batch_id",
      "GET /internal/refunds",
      "GET /internal/refunds/:id",
      "GET /internal/statement",
      "GET /internal/transactions",
      "GET /internal/transactions/:transaction_id",
      "GET /payments/cardnet/status/:transaction_id",
      "GET /payments/check-status/:order_id",
      "GET /payments/get-config-bank",
      "GET /payments/mastercard/status/:transaction_id",
      "GET /payments/mobile-money/status/:payment_id",
      "GET /payments/status/:transaction_id",
      "GET /payments/transaction/:id",
      "POST /internal/deliveries/:transaction_id/release",
      "POST /internal/events/:id/replay",
      "POST /internal/events/replay",
      "POST /internal/payouts",
      "POST /internal/payouts/:batch_id/retry",
      "POST /internal/refunds",
      "POST /internal/sessions/create",
      "POST /payments/bank-transfer/proof",
      "POST /payments/collect",
      "POST /payments/collect-redirect",
      "POST /payments/resend-otp",
      "POST /payments/send",
      "POST /payments/submit",
      "POST /payments/verify-otp",
    ]
  `);
});

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: { readonly operationId: string } } };
}

describe.each(named(routes))('%s', (_name, route) => {
  test('is in the OpenAPI document, by its method, path and operationId', async () => {
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as Document;
    const path = fullPath(route).replaceAll(/:(\w+)/g, '{$1}');
    const found = Object.entries(document.paths).find(([known]) => path.endsWith(known) && known.length > 5);
    expect(found?.[1][route.method.toLowerCase()]?.operationId).toBe(route.operationId);
  });

  test('works as its sample says', async () => {
    await requireWorks(world, route, await sampleOf(route, world, merchant));
  });

  test('is refused without a credential (1002)', async () => {
    const { path, body, bearer } = await sampleOf(route, world, merchant);
    const bare = body === undefined ? { path } : { path, body };
    expectRefusal(await send(world, route, bare), 401, '1002');
    for (const authorization of ['', 'Bearer', 'Bearer ', `Basic ${bearer}`, bearer, `Bearer ${bearer} x`]) {
      expectRefusal(await send(world, route, bare, { authorization }), 401, '1002');
    }
  });

  test('takes the scheme in any case', async () => {
    const { path, body, bearer, answers } = await sampleOf(route, world, merchant);
    const bare = body === undefined ? { path } : { path, body };
    const answer = await send(world, route, bare, { authorization: `bEARER ${bearer}` });
    expect(answer.status, answer.text).toBe(answers);
  });

  test('is refused with the other kind of credential (1003)', async () => {
    const sample = await sampleOf(route, world, merchant);
    const session = await sampleOf(routes.find(({ credential }) => credential === 'session') ?? route, world, merchant);
    const backend = `${merchant.key_id}:${merchant.secret}`;
    const bearer = route.credential === 'merchant' ? session.bearer : backend;
    expectRefusal(await send(world, route, { ...sample, bearer }), 403, '1003', 'WRONG_CREDENTIAL_KIND');
  });

  test('says 1204 of another merchant’s object, in the same bytes as of none at all', async () => {
    const sample = await sampleOf(route, world, merchant);
    if (sample.unknown === undefined) {
      expect(route.path, 'names no object').not.toContain(':');
      return;
    }
    const wanted = route.credential === 'merchant' ? 'createSession' : 'collectPayment';
    const { bearer } = await sampleOf(
      routes.find(({ operationId }) => operationId === wanted) ?? route,
      world,
      stranger,
    );
    const theirs = await send(world, route, { ...sample, bearer });
    const unknown = await send(world, route, { ...sample.unknown, bearer });
    const garbage = await send(world, route, {
      ...JSON.parse(JSON.stringify(sample.unknown).replaceAll(/(pay|txn|batch)_[\w-]+/g, '$1_nothing-of-the-sort')),
      bearer,
    });
    for (const answer of [theirs, unknown, garbage]) expectRefusal(answer, 404, '1204');
    for (const answer of [unknown, garbage]) {
      expect(withoutIds(answer)).toEqual(withoutIds(theirs));
      expect([...answer.headers.keys()].sort()).toEqual([...theirs.headers.keys()].sort());
      expect(answer.text.length).toBe(theirs.text.length);
    }
    // And its owner can still use it.
    await requireWorks(world, route, sample);
  });

  test('answers with the headers that every answer has', async () => {
    const sample = await sampleOf(route, world, merchant);
    const answers = [
      await requireWorks(world, route, sample),
      await send(world, route, { ...sample, bearer: 'sess_nobody' }, { 'x-forwarded-for': '192.0.2.7' }),
    ];
    for (const { headers } of answers) {
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null]);
    }
  });
});

describe.each(named(routes.filter(({ method }) => method === 'POST')))('%s', (_name, route) => {
  test('replays the first answer byte for byte; 1203 with another body', async () => {
    const sample = await sampleOf(route, world, merchant);
    const key = { 'idempotency-key': `walk-${route.operationId}-${world.log.lines.length}` };
    const first = await send(world, route, sample, key);
    const again = await send(world, route, sample, key);
    expect(first.status, first.text).toBe(sample.answers);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    if (sample.otherBody === undefined) throw new Error('a POST needs another body in its sample');
    const other = await send(world, route, { ...sample, body: sample.otherBody }, key);
    expectRefusal(other, 409, '1203', 'IDEMPOTENCY_BODY');
    expect(other.json.retryable).toBe(false);
  });
});

test('the books balance after the walk', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
