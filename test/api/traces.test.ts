/**
 * Traces: one leads from a request through its commits and the carrier's call to the webhook, even if hours or another
 * process are in between, and reveals nothing about people and money.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contextOfTransaction } from '../../src/platform/trace-context.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CollectedSpan, type Collector, openCollector } from '../support/collector.ts';
import { bearerOf, collect, payByPhone, payFromWallet, statusOf } from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { lines, sendPayout } from '../support/payout-flows.ts';
import { onlyHook, pushed } from '../support/phone-payments.ts';
import { openReceiver } from '../support/receiver.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const CALLER = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = { traceparent: `00-${CALLER}-00f067aa0ba902b7-01` };

let collector: Collector;
let world: World;
let merchant: MerchantCreated;
let closed: boolean;

beforeEach(async () => {
  collector = await openCollector();
  await open({});
});
afterEach(async () => {
  if (!closed) await world.close();
  await collector.close();
});

async function open(env: Readonly<Record<string, string>>): Promise<void> {
  world = await openWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } });
  merchant = await world.merchant();
  closed = false;
}

/** All recorded spans: the world is closed first, as a process that stops exports its last ones. */
async function recorded(): Promise<readonly CollectedSpan[]> {
  await world.close();
  closed = true;
  return collector.spans;
}

/** The names of a trace's spans, each under its parent. */
function treeOf(spans: readonly CollectedSpan[], traceId: string): readonly string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const below = (parentId: string, indent: string): string[] =>
    own
      .filter(({ parentSpanId }) => parentSpanId === parentId)
      .toSorted((a, b) => Number(a.startedAt - b.startedAt))
      .flatMap(({ name, spanId }) => [`${indent}${name}`, ...below(spanId, `${indent}  `)]);
  return below('', '');
}

const COLLECT = 'POST /api/v1/payments/collect';
const SUBMIT = 'POST /api/v1/payments/submit';

test('a payment from a wallet is one trace, from its creation to its webhook', async () => {
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  const hook = await world.receiver.about(paying.transaction_id);
  await world.gateway.courier.idle();
  const spans = await recorded();
  const { traceId, spanId } = contextOfTransaction(paying.transaction_id);
  expect(treeOf(spans, traceId)).toEqual([
    'payment',
    `  ${COLLECT}`,
    '    commit',
    `  ${SUBMIT}`,
    '    commit',
    '    webhook',
    '    commit',
  ]);
  expect(spans.find(({ name }) => name === 'payment')).toMatchObject({ traceId, spanId, parentSpanId: '' });
  // The receiver can continue it.
  const webhook = spans.find(({ name }) => name === 'webhook');
  expect(hook.headers.traceparent).toBe(`00-${traceId}-${webhook?.spanId}-01`);
  expect(webhook).toMatchObject({
    kind: 3,
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'mbongo.transaction_id': paying.transaction_id,
      'mbongo.event': 'payment.approved',
    },
  });
  expect(spans.find(({ name }) => name === SUBMIT)).toMatchObject({
    kind: 2,
    failed: false,
    attributes: {
      'http.route': '/api/v1/payments/submit',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'mbongo.transaction_id': paying.transaction_id,
      'mbongo.request_id': expect.stringMatching(/^req_/),
    },
  });
  for (const span of spans) expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt);
});

test('a payment by mobile money is one trace, with the carrier’s call and its callback', async () => {
  const paying = await pushed(world, merchant, '01');
  // The customer pays and the carrier calls back, before the round would inquire.
  await world.clock.advance(2_000);
  const hook = await world.receiver.about(paying.transaction_id);
  await world.gateway.courier.idle();
  const spans = await recorded();
  const { traceId } = contextOfTransaction(paying.transaction_id);
  expect(hook.headers.traceparent).toContain(traceId);
  const tree = treeOf(spans, traceId);
  // The carrier's “waiting” is written together with its next answer.
  expect(tree.slice(0, 6)).toEqual([
    'payment',
    `  ${COLLECT}`,
    '    commit',
    `  ${SUBMIT}`,
    '    commit',
    '    mtn-momo collect',
  ]);
  // The callback, by either method, is a request of its own, which finds the trace by the payment that it is about.
  const callback = tree.findIndex((name) => /^ {2}(PUT|POST) \/upstream\/:connector\/:segment$/.test(name));
  expect(callback).toBeGreaterThan(0);
  expect(tree.slice(callback + 1, callback + 3)).toEqual(['    mtn-momo inquire', '    commit']);
  expect(tree.filter((name) => name.trim() === 'webhook')).toHaveLength(1);
  expect(spans.find(({ name }) => name === 'mtn-momo collect')).toMatchObject({
    kind: 3,
    attributes: { 'mbongo.connector': 'mtn-momo', 'mbongo.operation': 'collect', 'mbongo.outcome': 'waiting' },
  });
});

describe('a caller that names a trace', () => {
  test('finds the request in it, and everything that follows in this process', async () => {
    const paying = await collect(world, merchant);
    await payFromWallet(world, paying, await world.wallet(), TRACEPARENT);
    const hook = await world.receiver.about(paying.transaction_id);
    await world.gateway.courier.idle();
    const spans = await recorded();
    const submit = spans.find(({ name }) => name === SUBMIT);
    const { traceId, spanId } = contextOfTransaction(paying.transaction_id);
    expect(submit).toMatchObject({ traceId: CALLER, parentSpanId: '00f067aa0ba902b7' });
    // The payment's own trace, which other processes use, is linked.
    expect(submit?.links).toMatchObject([{ traceId, spanId }]);
    const webhook = spans.find(({ name }) => name === 'webhook');
    expect(webhook).toMatchObject({ traceId: CALLER, parentSpanId: submit?.spanId });
    expect(hook.headers.traceparent).toBe(`00-${CALLER}-${webhook?.spanId}-01`);
    expect(treeOf(spans, traceId)).toEqual(['payment', `  ${COLLECT}`, '    commit']);
  });

  test('finds the carrier’s callback and the webhook in it too', async () => {
    const paying = await collect(world, merchant, { method: 'mobile_money' });
    const submitted = await payByPhone(world, paying, '+243810000101', TRACEPARENT);
    expect(submitted.status, submitted.text).toBe(200);
    const hook = await onlyHook(world, paying);
    expect(hook.headers.traceparent).toContain(CALLER);
    const names = (await recorded()).filter(({ traceId }) => traceId === CALLER).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([SUBMIT, 'commit', 'mtn-momo collect', 'mtn-momo inquire', 'webhook']),
    );
  });

  test('and marks it as not recorded is obeyed', async () => {
    const paying = await collect(world, merchant);
    const unsampled = { traceparent: `00-${CALLER}-00f067aa0ba902b7-00` };
    await payFromWallet(world, paying, await world.wallet(), unsampled);
    const hook = await world.receiver.about(paying.transaction_id);
    await world.gateway.courier.idle();
    expect(hook.headers.traceparent).toMatch(new RegExp(`^00-${CALLER}-[0-9a-f]{16}-00$`));
    expect((await recorded()).filter(({ traceId }) => traceId === CALLER)).toEqual([]);
  });

  test.each(['nonsense', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`])(
    'wrongly (%s) is ignored',
    async (traceparent) => {
      const answer = await world.call('GET', '/payments/methods', {
        bearer: bearerOf(merchant),
        headers: { traceparent },
      });
      expect(answer.status).not.toBe(500);
      const [span] = await recorded();
      expect(span).toMatchObject({ parentSpanId: '', kind: 2 });
    },
  );
});

test('a webhook that is tried again, by whichever process, is in the same trace', async () => {
  const receiver = await openReceiver((response, _hook, number) => response.writeHead(number === 1 ? 500 : 204).end());
  const paying = await collect(world, merchant, { body: { notify_url: receiver.url } });
  await payFromWallet(world, paying, await world.wallet());
  await receiver.reached(1);
  await world.gateway.courier.idle();
  await world.pass(60_000);
  await receiver.reached(2);
  await world.gateway.courier.idle();
  const spans = await recorded();
  await receiver.close();
  const { traceId } = contextOfTransaction(paying.transaction_id);
  const tries = spans.filter(({ name }) => name === 'webhook');
  expect(tries.map((span) => [span.traceId, span.attributes['http.response.status_code']])).toEqual([
    [traceId, 500],
    [traceId, 204],
  ]);
});

test('each payout line is a trace of its own, linked with its batch', async () => {
  await fund(world, merchant, 100_00n);
  const sent = await sendPayout(world, merchant, { beneficiaries: lines(2) });
  expect(sent.status, sent.text).toBe(200);
  const ids: string[] = sent.json.beneficiaries.map((line: { transaction_id: string }) => line.transaction_id);
  const paid = () => world.receiver.hooks.filter(({ body }) => body.status === 'completed');
  await untilLater(world, async () => (paid().length === 2 ? true : undefined));
  await world.gateway.courier.idle();
  const spans = await recorded();
  for (const id of ids) {
    const { traceId, spanId } = contextOfTransaction(id);
    const root = spans.find((span) => span.spanId === spanId);
    expect(root).toMatchObject({ name: 'payout', traceId });
    expect(root?.links).toHaveLength(1);
    const names = treeOf(spans, traceId).map((name) => name.trim());
    expect(names).toEqual(expect.arrayContaining(['payout', 'commit', 'mtn-momo-disbursement pay_out', 'webhook']));
  }
});

test('a request about no transaction is a trace of its own; machines’ requests are not traced', async () => {
  const paying = await collect(world, merchant);
  await statusOf(world, paying);
  await fetch(`${world.url}/health`);
  await fetch(`${world.url}/health/ready`);
  await fetch(`${world.url}/metrics`);
  const spans = await recorded();
  const minted = spans.find(({ name }) => name === 'POST /api/v1/internal/sessions/create');
  expect(minted).toMatchObject({ parentSpanId: '', kind: 2 });
  expect(treeOf(spans, minted?.traceId ?? '')).toEqual([minted?.name, '  commit']);
  const read = spans.find(({ name }) => name === 'GET /api/v1/payments/status/:transaction_id');
  expect(read?.traceId).not.toBe(contextOfTransaction(paying.transaction_id).traceId);
  expect(read?.attributes['mbongo.transaction_id']).toBe(paying.transaction_id);
  expect(spans.filter(({ name }) => name.includes('health') || name.includes('metrics'))).toEqual([]);
});

test('nothing about people and money is revealed', async () => {
  const wallet = await world.wallet();
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, wallet);
  await world.receiver.about(paying.transaction_id);
  const phone = await pushed(world, merchant, '01');
  await onlyHook(world, phone);
  await recorded();
  const told = collector.bodies.join('\n');
  for (const word of [
    paying.token,
    paying.payment_id,
    paying.reference,
    merchant.secret,
    merchant.webhook_secret,
    wallet.number,
    phone.msisdn,
    phone.msisdn.slice(1),
    '12.50',
    'Boutique Kivu',
  ]) {
    expect(told).not.toContain(word);
  }
  // Not as a value; within an identifier or an instant the digits occur by chance.
  expect(told).not.toMatch(/(?<![0-9a-z])1250(?![0-9a-f])|usd1250/);
});

test('a caller cannot have more recorded than the operator wants', async () => {
  await world.close();
  await open({ OTEL_TRACES_SAMPLER_ARG: '0' });
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet(), TRACEPARENT);
  const hook = await world.receiver.about(paying.transaction_id);
  await world.gateway.courier.idle();
  expect(await recorded()).toEqual([]);
  expect(hook.headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test('a caller cannot choose a trace that is recorded whatever the share', async () => {
  await world.close();
  await open({ OTEL_TRACES_SAMPLER_ARG: '0.001' });
  const paying = await collect(world, merchant);
  // Among numbers drawn at random, the smallest are those that the share lets through.
  const smallest = ['1', '2', '3'].map((digit) => digit.padStart(32, '0'));
  for (const id of smallest) {
    const headers = { traceparent: `00-${id}-00f067aa0ba902b7-01` };
    await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token, headers });
  }
  expect((await recorded()).filter(({ traceId }) => smallest.includes(traceId))).toEqual([]);
});

test('of a sampled share, each transaction is recorded completely or not at all', async () => {
  await world.close();
  await open({ OTEL_TRACES_SAMPLER_ARG: '0.5' });
  const all: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const paying = await collect(world, merchant);
    await payFromWallet(world, paying, await world.wallet());
    await world.receiver.about(paying.transaction_id);
    all.push(paying.transaction_id);
  }
  await world.gateway.courier.idle();
  const spans = await recorded();
  const counts = all.map((id) => spans.filter(({ traceId }) => traceId === contextOfTransaction(id).traceId).length);
  expect(counts.every((count) => count === 0 || count === 7)).toBe(true);
});

test('a collector that refuses is reported once, and holds nothing up', async () => {
  await world.close();
  await collector.close();
  collector = await openCollector(400);
  await open({});
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  await world.receiver.about(paying.transaction_id);
  await recorded();
  expect(collector.bodies.length).toBeGreaterThan(0);
  expect(world.log.lines.filter((line) => line.includes('"event":"traces_not_taken"'))).toHaveLength(1);
});
