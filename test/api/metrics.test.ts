/**
 * `/metrics`: what monitoring reads, without a credential and without any personal data.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMetrics } from '../../src/platform/metrics.ts';
import { collect, payFromWallet } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

async function page(): Promise<string> {
  const response = await fetch(`${world.url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  return response.text();
}

/** The value of a line, by its name and labels. */
function numberOf(text: string, line: string): number | undefined {
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

test('counts answers by route and class, and their durations', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  for (const path of [`/payments/status/${paying.transaction_id}`, '/payments/status/txn_unknown', '/nowhere/at-all']) {
    await world.call('GET', path, { bearer: paying.token });
  }
  await fetch(`${world.url}/api/v1/payments/submit`, { method: 'DELETE' });
  const text = await page();
  const count = (method: string, route: string, status: string) =>
    numberOf(text, `mbongo_http_requests_total{method="${method}",route="${route}",status="${status}"}`);
  expect(count('POST', '/api/v1/payments/collect', '2xx')).toBe(1);
  expect(count('POST', '/api/v1/payments/submit', '2xx')).toBe(1);
  expect(count('GET', '/api/v1/payments/status/:transaction_id', '2xx')).toBe(1);
  expect(count('GET', '/api/v1/payments/status/:transaction_id', '4xx')).toBe(1);
  expect(count('GET', 'unknown', '4xx')).toBe(1);
  const route = 'route="/api/v1/payments/collect"';
  expect(numberOf(text, `mbongo_http_request_duration_seconds_count{${route}}`)).toBe(1);
  expect(numberOf(text, `mbongo_http_request_duration_seconds_bucket{le="+Inf",${route}}`)).toBe(1);
  for (const word of [paying.token, paying.transaction_id, merchant.key_id, merchant.merchant.id, 'txn_', 'nowhere']) {
    expect(text).not.toContain(word);
  }
});

test('reports the last audit, whichever process made it', async () => {
  await world.pass(60_000);
  const sound = await page();
  expect(numberOf(sound, 'mbongo_audit_findings{kind="balance"}')).toBe(0);
  expect(numberOf(sound, 'mbongo_audit_last_run_timestamp_seconds')).toBe(world.clock.now() / 1_000);
  const { number } = await world.wallet();
  await rowsOf(world, 'update account set balance = balance + 1 where id = $1', [number]);
  await world.pass(60_000);
  expect(numberOf(await page(), 'mbongo_audit_findings{kind="balance"}')).toBe(1);
});

test('reports on the process too', async () => {
  const { body } = await openMetrics({ ofProcess: true }).page();
  expect(body).toMatch(/\nmbongo_process_resident_memory_bytes \d/);
  expect(body).toMatch(/\nmbongo_nodejs_eventloop_lag_seconds /);
});
