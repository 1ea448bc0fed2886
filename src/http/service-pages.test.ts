/** The pages that every gateway has of its own: whether it is alive, whether it can serve, and what its errors mean. */

import { afterEach, expect, it } from 'vitest';
import { type SmallWorld, type SmallWorldOptions, smallWorld } from './testing/small-world.ts';

const worlds: SmallWorld[] = [];

function open(options?: SmallWorldOptions): SmallWorld {
  const world = smallWorld(options);
  worlds.push(world);
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ app }) => app.close()));
});

it('say whether the process is alive, and whether it can serve', async () => {
  const { app } = open();
  expect((await app.inject('/health')).json()).toEqual({ status: 'ok' });
  expect((await app.inject('/api/v1/health')).json()).toEqual({ status: 'ok' });
  expect((await app.inject('/health/ready')).json()).toEqual({ status: 'ready', checks: { database: true } });
  const away = open({ ready: async () => ({ ok: false, checks: { database: false } }) });
  expect((await away.app.inject('/health/ready')).statusCode).toBe(503);
  const broken = open({ ready: () => Promise.reject(new Error('no database')) });
  const answer = await broken.app.inject('/health/ready');
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({
    status: 'not_ready',
    checks: {},
    error: true,
    error_code: '1402',
    request_id: answer.headers['x-request-id'],
    retry_after: Number(answer.headers['retry-after']),
  });
});

it('say within two seconds that a process whose database is silent cannot serve', async () => {
  const silent = open({ ready: () => new Promise(() => undefined) });
  const answer = silent.app.inject('/health/ready');
  await silent.app.ready();
  await silent.clock.advance(2_000);
  expect((await answer).statusCode).toBe(503);
  expect((await answer).json().checks).toEqual({ database: false, accepting: true, clock: true });
});

it('explain errors at the address of documentation_url', async () => {
  const world = open();
  const headers = { authorization: world.merchantAuth, 'content-type': 'application/json' };
  const order = { method: 'POST', url: '/api/v1/orders', headers, payload: '{' } as const;
  const refused = await world.app.inject(order);
  const { pathname } = new URL(refused.json<{ documentation_url: string }>().documentation_url);
  const page = await world.app.inject(`${pathname}?lang=es`);
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.body).toContain('lang="es"');
  expect((await world.app.inject('/docs/errors')).statusCode).toBe(200);
  const [style = ''] = /\/docs\/assets\/style[^"]+/.exec((await world.app.inject('/docs')).body) ?? [];
  expect((await world.app.inject(style)).headers['content-type']).toBe('text/css; charset=utf-8');
  const unknown = await world.app.inject('/docs/errors/9999');
  expect([unknown.statusCode, unknown.json()]).toEqual([404, expect.objectContaining({ error_code: '1403' })]);
});

it('tell a browser in words that a page of the documentation does not exist, and a program in the envelope', async () => {
  const { app } = open();
  for (const url of ['/docs/refund', '/docs/errors/9999', '/docs/errors/1101/more']) {
    const page = await app.inject({ url, headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
    expect([page.statusCode, page.headers['content-type']], url).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.headers.vary).toBe('Accept, Accept-Encoding');
    expect(page.body).toContain('<h1>There is no such page</h1>');
    const told = await app.inject({ url, headers: { accept: '*/*' } });
    expect([told.statusCode, told.json()], url).toEqual([404, expect.objectContaining({ error_code: '1403' })]);
  }
  const slash = await app.inject('/docs/');
  expect([slash.statusCode, slash.headers.location]).toEqual([308, '/docs']);
});
