/**
 * What calls keep of their bodies while they wait: a customer's session may send a hundred in a minute, of 256 KiB each, and as
 * objects they take twenty times as much.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Type } from 'typebox';
import { afterEach, expect, test, vi } from 'vitest';
import { makeId } from '../domain/ids.ts';
import { createReceipt } from './idempotency.ts';
import { PayoutBody } from './payout-schemas.ts';
import { defineRoute } from './route.ts';
import { createBodyShape } from './shape.ts';
import { smallWorld } from './testing/small-world.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** 32 MiB: more than anything else in the process comes and goes by. */
const TEXT_BYTES = 33_554_432;

const { parse } = JSON;
afterEach(() => {
  JSON.parse = parse;
});

/** What JSON.parse has made since, by weak references. */
function watchParsed(): WeakRef<object>[] {
  const made: WeakRef<object>[] = [];
  JSON.parse = (...words: Parameters<typeof parse>): unknown => {
    const value: unknown = parse(...words);
    if (typeof value === 'object' && value !== null && 'junk' in value) made.push(new WeakRef(value.junk as object));
    return value;
  };
  return made;
}

/** Bytes of the heap that outlive a collection. */
function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** How many of them outlive a collection. */
function kept(made: readonly WeakRef<object>[]): number {
  collect();
  return made.filter((one) => one.deref() !== undefined).length;
}

test('a call that waits, for its turn or for others, keeps nothing of its body but the fields that it has', async () => {
  let open: (value: unknown) => void = () => undefined;
  const gate = new Promise((resolve) => {
    open = resolve;
  });
  const seen: unknown[] = [];
  const Lines = Type.Array(Type.Object({ amount: Type.String() }));
  const slow = defineRoute({
    method: 'POST',
    path: '/slow',
    operationId: 'slow',
    summary: 'Slow',
    description: 'Waits.',
    credential: 'merchant',
    limit: 'none',
    loadClass: 'finish',
    body: Type.Object({ amount: Type.String(), lines: Type.Optional(Lines) }),
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => {
      await gate;
      seen.push(call.body);
      return call.reply(200, {});
    },
  });
  const world = smallWorld({ routes: [slow], rateLimitScale: 0 });
  const parsed = watchParsed();
  const junk = Array.from({ length: 1_000 }, () => ({}));
  const send = (body: object, key?: string): PromiseLike<{ statusCode: number }> =>
    world.app.inject({
      method: 'POST',
      url: '/api/v1/slow',
      headers: { authorization: world.merchantAuth, ...(key === undefined ? {} : { 'idempotency-key': key }) },
      payload: { ...body, junk },
    });
  const good = { amount: '1.00', lines: [{ amount: '2.00', more: junk }] };
  const answers = Promise.all([send(good), send(good, 'k'), send(good, 'k'), send({ amount: 1, lines: junk }, 'k')]);
  while (parsed.length < 4) await nextTurn();
  // What nothing holds may outlive a collection, but not all of them.
  await expect.poll(() => kept(parsed)).toBe(0);
  open(undefined);
  expect((await answers).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 400]);
  const known = { amount: '1.00', lines: [{ amount: '2.00' }] };
  expect(seen).toEqual([known, known, known]);
  await world.app.close();
});

test('a call of a route that takes no body keeps nothing of one', async () => {
  let open: (value: unknown) => void = () => undefined;
  const gate = new Promise((resolve) => {
    open = resolve;
  });
  const again = defineRoute({
    method: 'POST',
    path: '/again',
    operationId: 'again',
    summary: 'Again',
    description: 'Waits.',
    credential: 'merchant',
    limit: 'none',
    loadClass: 'finish',
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => {
      await gate;
      return call.reply(200, { body: call.body });
    },
  });
  const world = smallWorld({ routes: [again] });
  const parsed = watchParsed();
  const headers = { authorization: world.merchantAuth };
  const payload = { junk: [{}] };
  const answered = world.app
    .inject({ method: 'POST', url: '/api/v1/again', headers, payload })
    .then((answer) => answer);
  while (parsed.length < 1) await nextTurn();
  await expect.poll(() => kept(parsed)).toBe(0);
  open(undefined);
  expect((await answered).body).toBe('{}');
  await world.app.close();
});

test('of the files that have arrived, four are worked on at once, which takes several times their size', async () => {
  let open: (value: unknown) => void = () => undefined;
  const gate = new Promise((resolve) => {
    open = resolve;
  });
  let begun = 0;
  const proof = defineRoute({
    method: 'POST',
    path: '/proof',
    operationId: 'proof',
    summary: 'Proof',
    description: 'Waits.',
    credential: 'merchant',
    limit: 'none',
    loadClass: 'finish',
    upload: { field: 'file', most: 1_000 },
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => {
      begun += 1;
      await gate;
      return call.reply(200, {});
    },
  });
  let looked = 0;
  const isClockRight = async (): Promise<boolean> => {
    looked += 1;
    return true;
  };
  const world = smallWorld({ routes: [proof], isClockRight });
  const timers = vi.spyOn(world.clock, 'after');
  const { credential } = world.rows;
  const answers: Promise<number>[] = [];
  for (const sender of [1, 2, 3]) {
    // A sender has two places, so three of them are needed.
    const id = makeId('key', world.clock.now(), Buffer.alloc(16, sender), credential.shard);
    world.rows.credential = { ...credential, id };
    for (const _ of [1, 2]) {
      const payload = new FormData();
      payload.set('file', new File(['x'], 'receipt.png'));
      const headers = { authorization: world.merchantAuth.replace(credential.id, id) };
      const answer = world.app.inject({ method: 'POST', url: '/api/v1/proof', headers, payload });
      answers.push(answer.then(({ statusCode }) => statusCode));
      // The credential has been read once its call reaches the clock's check.
      while (looked < answers.length) await nextTurn();
    }
  }
  // A file that comes has a timer, set anew for each of its pieces, and one that is there has none.
  while (begun < 4 || timers.mock.calls.length < 12 || world.clock.pending() > 0) await nextTurn();
  await nextTurn();
  expect(begun).toBe(4);
  open(undefined);
  expect(await Promise.all(answers)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(begun).toBe(6);
  await world.app.close();
});

test('of a field that another kind of call needs, nothing is kept but what it may be there', () => {
  const { known } = createBodyShape(PayoutBody);
  const junk = [{}];
  const unread = { recurring_frequency: junk, recurring_start_date: { junk }, recurring_occurrences: junk };
  expect(known({ currency: 'usd', scheduled_dates: junk, ...unread })).toEqual({ currency: 'usd' });
  const read = { scheduled_dates: ['2027-01-31'], recurring_frequency: 'daily', recurring_start_date: null };
  expect(known(read)).toEqual(read);
});

test('the memory of a key keeps hashes of the body, and not its text', async () => {
  const { app, secrets, clock } = smallWorld();
  const parts = { secrets, clock, lookups: { idempotencyGet: () => Promise.resolve(undefined) } };
  const scope = { shard: 7, owner: 'ses_1', route: 'POST /slow' };
  const receiptOf = (length: number) => createReceipt(parts, scope, 'k', { note: 'x'.repeat(length) });
  receiptOf(1);
  const before = heapBytes();
  const receipt = receiptOf(TEXT_BYTES);
  await expect.poll(() => heapBytes() - before).toBeLessThan(TEXT_BYTES / 2);
  expect(receipt.used()).toBe(false);
  await app.close();
});
