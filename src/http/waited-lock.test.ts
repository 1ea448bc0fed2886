/** How a call ends that has waited for the first under its Idempotency-Key: it is judged by what holds when it gets the key’s lock. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { defineRoute } from './route.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

/** How long the session is valid, in milliseconds: longer than a credential counts as current, and shorter than a call's patience. */
const LIFE_MS = 2_000;

/** The status of a call that waits while something happens, and how often the route has run. */
async function answerAfter(credential: 'merchant' | 'session', meanwhile: (world: SmallWorld) => Promise<void>) {
  let [begin, finish] = [() => {}, () => {}];
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let runs = 0;
  const slow = defineRoute({
    method: 'POST',
    path: '/slow',
    operationId: 'slow',
    summary: 'Slow',
    description: 'The first call waits.',
    credential,
    limit: 'none',
    loadClass: 'finish',
    allowConsumed: true,
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => {
      runs += 1;
      if (runs === 1) {
        begin();
        await finished;
      }
      return call.reply(200, {});
    },
  });
  const world = smallWorld({ routes: [slow] });
  world.rows.session = { ...world.rows.session, expires_at: world.clock.now() + LIFE_MS };
  const authorization = credential === 'merchant' ? world.merchantAuth : world.sessionAuth;
  const headers = { authorization, 'idempotency-key': 'k' };
  const send = async (): Promise<number> =>
    (await world.app.inject({ method: 'POST', url: '/api/v1/slow', headers, payload: {} })).statusCode;
  const first = send();
  await begun;
  const timers = world.clock.pending();
  const second = send();
  // Its patience has a timer.
  while (world.clock.pending() === timers) await nextTurn();
  await meanwhile(world);
  finish();
  expect(await first).toBe(200);
  const status = await second;
  await world.app.close();
  return { status, runs };
}

test.each(['merchant', 'session'] as const)(
  'one of a %s whose credential was revoked meanwhile is refused',
  async (credential) => {
    const answer = await answerAfter(credential, ({ rows, clock }) => {
      rows.credential = { ...rows.credential, status: 'REVOKED' };
      return clock.advance(LIFE_MS / 2);
    });
    expect(answer).toEqual({ status: 401, runs: 1 });
  },
);

test.each(['ACTIVE', 'CONSUMED'] as const)(
  'one of a session that has expired meanwhile still gets its answer: %s',
  async (status) => {
    const answer = await answerAfter('session', ({ rows, clock }) => {
      rows.session = { ...rows.session, status };
      return clock.advance(LIFE_MS);
    });
    expect(answer).toEqual({ status: 200, runs: 2 });
  },
);

test.each(['REVOKED', 'SUSPENDED'] as const)(
  'one of a session that has expired, and was %s, meanwhile is refused',
  async (how) => {
    const answer = await answerAfter('session', ({ rows, clock }) => {
      if (how === 'REVOKED') rows.credential = { ...rows.credential, status: how };
      else rows.merchant = { ...rows.merchant, status: how };
      return clock.advance(LIFE_MS);
    });
    expect(answer).toEqual({ status: how === 'REVOKED' ? 401 : 403, runs: 1 });
  },
);
