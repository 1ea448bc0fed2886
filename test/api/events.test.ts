/**
 * Webhook events by API: listed, read with their tries, and sent again.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Refusal } from '../../src/domain/refusal.ts';
import { type RangeReplayed, replayOwnRange } from '../../src/usecases/events-replay.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  bearerOf,
  collect,
  type Fields,
  freshKey,
  hooksAbout,
  neighbourOf,
  payFromWallet,
  postsAbout,
} from '../support/flows.ts';
import { answering, openReceiver } from '../support/receiver.ts';
import { rowsOf } from '../support/rows.ts';
import { copyEvent } from '../support/webhook-desk.ts';
import { type Answer, type CallOptions, openWorld, type World } from '../support/world.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

interface Listed {
  readonly event_id: string;
  readonly transaction_id: string;
}

const ask = (method: string, path: string, merchant: MerchantCreated, more: CallOptions = {}): Promise<Answer> =>
  world.call(method, `/internal/events${path}`, { bearer: bearerOf(merchant), ...more });

const list = (merchant: MerchantCreated, asked: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  ask('GET', `?${new URLSearchParams(asked)}`, merchant);

async function idsOf(merchant: MerchantCreated, asked: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { json, text } = await list(merchant, asked);
  expect(json.success, text).toBe(true);
  return json.events.map(({ event_id }: Listed) => event_id);
}

/** A payment from a wallet. Returns its transaction_id and its event's id, once the first try is recorded. */
async function pay(merchant: MerchantCreated, body: Fields = {}): Promise<{ transaction: string; event: string }> {
  const paying = await collect(world, merchant, { body });
  const paid = await payFromWallet(world, paying, await world.wallet());
  expect(paid.json.status, paid.text).toBe('approved');
  await world.gateway.courier.idle();
  const [event = ''] = await idsOf(merchant, { transaction_id: paying.transaction_id });
  return { transaction: paying.transaction_id, event };
}

async function payTimes(merchant: MerchantCreated, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    made.unshift((await pay(merchant)).event);
    await world.clock.advance(MINUTE);
  }
  return made;
}

const iso = (at: number): string => new Date(at).toISOString();

describe('the list', () => {
  test('shows for each event what became of it', async () => {
    const merchant = await world.merchant();
    const at = world.clock.now();
    const { transaction, event } = await pay(merchant);
    const { json } = await list(merchant);
    expect(json).toEqual({
      success: true,
      events: [
        {
          event_id: event,
          type: 'payment.approved',
          transaction_id: transaction,
          sequence: 1,
          url: world.receiver.url,
          status: 'delivered',
          attempts: 1,
          next_at: null,
          created_at: iso(at),
          delivered_at: expect.stringMatching(/^2026-11-20T/),
          last_error: null,
        },
      ],
      next_cursor: null,
    });
    expect(hooksAbout(world, transaction)[0]?.headers['webhook-id']).toBe(event);
  });

  test('is newest first, page by page, and of one merchant only', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    const made = await payTimes(merchant, 5);
    await payTimes(stranger, 1);
    const first = await list(merchant, { limit: '2' });
    const late = await payTimes(merchant, 1);
    const second = await list(merchant, { limit: '2', cursor: first.json.next_cursor });
    const third = await list(merchant, { limit: '2', cursor: second.json.next_cursor });
    const pages = [first, second, third].map(({ json }) => json.events.map(({ event_id }: Listed) => event_id));
    expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)]);
    expect(third.json.next_cursor).toBeNull();
    expect(await idsOf(merchant)).toEqual([...late, ...made]);
    // One merchant's cursor gives another merchant only its own events.
    expect(await idsOf(stranger, { cursor: made[0] ?? '' })).not.toContain(made[1]);
  });

  test('is filtered by status, type, transaction and time', async () => {
    const merchant = await world.merchant();
    const begun = world.clock.now();
    const [newer = '', older = ''] = await payTimes(merchant, 2);
    const dead = await openReceiver(answering(500));
    const failing = await pay(merchant, { notify_url: dead.url });
    await dead.close();
    const detail = await ask('GET', `/${older}`, merchant);
    expect(await idsOf(merchant, { status: 'delivered' })).toEqual([newer, older]);
    expect(await idsOf(merchant, { status: 'waiting' })).toEqual([failing.event]);
    expect(await idsOf(merchant, { type: 'payment.approved' })).toEqual([failing.event, newer, older]);
    expect(await idsOf(merchant, { type: 'payment.failed' })).toEqual([]);
    expect(await idsOf(merchant, { transaction_id: detail.json.transaction_id })).toEqual([older]);
    expect(await idsOf(merchant, { from: iso(begun), to: iso(begun + MINUTE - 1) })).toEqual([older]);
    expect(await idsOf(merchant, { from: iso(begun + MINUTE), status: 'delivered' })).toEqual([newer]);
    expect(await idsOf(merchant, { to: iso(begun - 1) })).toEqual([]);
    const [waiting] = (await list(merchant, { status: 'waiting' })).json.events;
    expect(waiting).toMatchObject({ attempts: 1, last_error: 'http_500', delivered_at: null });
    expect(Date.parse(waiting.next_at)).toBeGreaterThan(world.clock.now());
  });

  test('looks at a limited number of events per page, and goes on', async () => {
    const merchant = await world.merchant();
    const { event } = await pay(merchant);
    await rowsOf(
      world,
      `insert into webhook_event (shard, id, version, merchant_id, transaction_id, sequence, type, url, body, status, attempts,
         next_at, created_at)
       select shard, left(id, 8) || 'z' || lpad(n::text, 4, '0') || right(id, 17), 1, merchant_id, transaction_id, 1, type,
         url, body, 'dead', 12, next_at, created_at
       from webhook_event, generate_series(1, 2500) n where id = $1`,
      [event],
    );
    const first = await list(merchant, { status: 'delivered' });
    expect(first.json.events).toEqual([]);
    const second = await list(merchant, { status: 'delivered', cursor: first.json.next_cursor });
    expect(second.json.events).toMatchObject([{ event_id: event }]);
    expect(second.json.next_cursor).toBeNull();
  });

  test.each([
    ['limit=101', 'limit', 'OUT_OF_RANGE'],
    ['limit=0', 'limit', 'OUT_OF_RANGE'],
    ['cursor=evt_x', 'cursor', 'INVALID_CURSOR'],
    ['transaction_id=7', 'transaction_id', 'INVALID_FORMAT'],
    ['status=lost', 'status', 'NOT_AN_OPTION'],
    ['from=2027-02-30', 'from', 'INVALID_INSTANT'],
    ['from=2026-11-20&to=2026-11-19', 'to', 'DATES_REVERSED'],
    ['type=payment.aproved', 'type', 'NOT_AN_OPTION'],
    ['type=%00', 'type', 'NOT_AN_OPTION'],
  ])('refuses %s', async (asked, field, code) => {
    const answer = await ask('GET', `?${asked}`, await world.merchant());
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json.details).toMatchObject([{ field, code }]);
  });
});

describe('one event', () => {
  test('is read with its body and every try', async () => {
    const merchant = await world.merchant();
    const failing = await openReceiver(answering(500));
    const { transaction, event } = await pay(merchant, { notify_url: failing.url });
    await world.pass(6_000);
    await world.gateway.courier.idle();
    const { json } = await ask('GET', `/${event}`, merchant);
    expect(json).toMatchObject({
      success: true,
      event_id: event,
      status: 'waiting',
      attempts: 2,
      body: { transaction_id: transaction, status: 'approved', currency: 'usd' },
      tries: [
        { id: expect.stringMatching(/^whd_/), number: 1, status_code: 500, error: 'http_500' },
        { id: expect.stringMatching(/^whd_/), number: 2, status_code: 500, error: 'http_500' },
      ],
    });
    expect(new Set(json.tries.map(({ id }: { id: string }) => id)).size).toBe(2);
    expect(json.body).toEqual(JSON.parse(failing.hooks[0]?.raw ?? ''));
    await failing.close();
  });

  test('cannot be read or sent by another merchant (1204)', async () => {
    const merchant = await world.merchant();
    const { event } = await pay(merchant);
    for (const other of [await neighbourOf(world, merchant), await world.merchant()]) {
      expectRefusal(await ask('GET', `/${event}`, other), 404, '1204');
      expectRefusal(await ask('POST', `/${event}/replay`, other), 404, '1204');
    }
    expectRefusal(await ask('GET', '/evt_nothing', merchant), 404, '1204');
  });
});

describe('a replay', () => {
  test('is sent at once, in the same bytes', async () => {
    const merchant = await world.merchant();
    const { transaction, event } = await pay(merchant);
    const answer = await ask('POST', `/${event}/replay`, merchant);
    expect(answer.json, answer.text).toMatchObject({ success: true, event_id: event, status: 'waiting', attempts: 1 });
    // No round has run, and no time has passed.
    await world.gateway.courier.idle();
    const posts = postsAbout(world, transaction);
    expect(posts.map(({ raw }) => raw)).toEqual([posts[0]?.raw, posts[0]?.raw]);
    expect(posts.map(({ headers }) => headers['webhook-id'])).toEqual([event, event]);
    expect((await ask('GET', `/${event}`, merchant)).json).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  test('happens once per key, however often it is requested', async () => {
    const merchant = await world.merchant();
    const { transaction, event } = await pay(merchant);
    const headers = freshKey();
    const racing = Array.from({ length: 5 }, () => ask('POST', `/${event}/replay`, merchant, { headers }));
    const answers = [...(await Promise.all(racing)), await ask('POST', `/${event}/replay`, merchant, { headers })];
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    await world.gateway.courier.idle();
    expect(postsAbout(world, transaction)).toHaveLength(2);
  });

  test('is refused under the key of another event’s: what the path names belongs to the call (1203)', async () => {
    const merchant = await world.merchant();
    const [one, other] = [await pay(merchant), await pay(merchant)];
    const headers = freshKey();
    expect((await ask('POST', `/${one.event}/replay`, merchant, { headers })).status).toBe(200);
    const refused = await ask('POST', `/${other.event}/replay`, merchant, { headers });
    expectRefusal(refused, 409, '1203', 'IDEMPOTENCY_BODY');
  });

  test('is refused for an event without a notify_url (1205)', async () => {
    const merchant = await world.merchant();
    const { transaction, event } = await pay(merchant);
    await rowsOf(world, `update webhook_event set status = 'no_target', url = null where id = $1`, [event]);
    const answer = await ask('POST', `/${event}/replay`, merchant);
    expectRefusal(answer, 409, '1205', 'NO_TARGET');
    expect(answer.json.transaction_id).toBe(transaction);
    expect((await ask('GET', `/${event}`, merchant)).json).toMatchObject({ url: null, next_at: null });
  });
});

describe('a replay of a range', () => {
  const replay = (merchant: MerchantCreated, body: Fields, headers: Readonly<Record<string, string>> = {}) =>
    ask('POST', '/replay', merchant, { body, headers });

  test('sends the events of the span and the status again, at once, and of one merchant only', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    const from = world.clock.now();
    const [newest = '', ...older] = await payTimes(merchant, 3);
    await payTimes(stranger, 1);
    const targetless = await pay(merchant);
    await rowsOf(world, `update webhook_event set status = 'no_target', url = null where id = $1`, [targetless.event]);
    const begun = world.receiver.hooks.length;
    const body = { from: iso(from), to: iso(from + 2 * MINUTE - 1) };
    const answer = await replay(merchant, body);
    expect(answer.json, answer.text).toEqual({ success: true, replayed: 2, to: body.to, next_cursor: null });
    await world.gateway.courier.idle();
    const sent = world.receiver.hooks.slice(begun).map(({ headers }) => headers['webhook-id']);
    expect(sent.toSorted()).toEqual(older.toSorted());
    // All that have a target, up to now.
    expect((await replay(merchant, { from: iso(from) })).json).toMatchObject({ replayed: 3, next_cursor: null });
    await world.gateway.courier.idle();
    expect((await replay(merchant, { from: iso(from), status: 'dead' })).json.replayed).toBe(0);
    expect((await ask('GET', `/${newest}`, merchant)).json.attempts).toBe(2);
  });

  test('is bounded, says that more are left, and goes on', async () => {
    const merchant = await world.merchant();
    const from = world.clock.now();
    const { event } = await pay(merchant);
    await copyEvent(world, event, 2_700, "case when n between 301 and 2300 then 'delivered' else 'dead' end");
    const body = { from: iso(from), status: 'dead' };
    const headers = freshKey();
    const first = await replay(merchant, body, headers);
    expect(first.json, first.text).toMatchObject({ replayed: 500, next_cursor: expect.stringMatching(/^evt_/) });
    const again = await replay(merchant, body, headers);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    const { to, next_cursor: cursor } = first.json;
    const second = await replay(merchant, { ...body, to, cursor });
    expect(second.json).toMatchObject({ replayed: 200, to, next_cursor: null });
    await world.gateway.courier.idle();
    expect((await replay(merchant, body)).json.replayed).toBe(0);
  });

  test('looks at a limited number of events per call, however few of them are to be sent, and goes on', async () => {
    const merchant = await world.merchant();
    const from = world.clock.now();
    const { event } = await pay(merchant);
    await copyEvent(world, event, 20_500, "case n when 20500 then 'dead' else 'delivered' end");
    const first = await replay(merchant, { from: iso(from), status: 'dead' });
    expect(first.json, first.text).toMatchObject({ replayed: 0, next_cursor: expect.stringMatching(/^evt_/) });
    const { to, next_cursor: cursor } = first.json;
    const second = await replay(merchant, { from: iso(from), status: 'dead', to, cursor });
    expect(second.json, second.text).toMatchObject({ replayed: 1, next_cursor: null });
    await world.gateway.courier.idle();
  });

  test.each<[string, Fields, string, string]>([
    ['no beginning', {}, 'from', 'REQUIRED'],
    ['a day that does not exist', { from: '2026-02-30' }, 'from', 'INVALID_INSTANT'],
    ['dates the wrong way round', { from: '2026-11-20', to: '2026-11-19' }, 'to', 'DATES_REVERSED'],
    ['32 days', { from: '2026-10-01', to: '2026-11-01' }, 'to', 'SPAN_TOO_LONG'],
    ['a beginning longer ago', { from: iso(Date.UTC(2026, 9, 1)) }, 'from', 'SPAN_TOO_LONG'],
    ['what has nowhere to go', { from: '2026-11-20', status: 'no_target' }, 'status', 'NOT_AN_OPTION'],
    ['another’s cursor', { from: '2026-11-20', cursor: 'txn_7' }, 'cursor', 'INVALID_CURSOR'],
  ])('refuses %s', async (_name, body, field, code) => {
    const answer = await replay(await world.merchant(), body);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json.details).toMatchObject([{ field, code }]);
  });

  test('leaves out what is archived at that moment', async () => {
    const merchant = await world.merchant();
    const from = world.clock.now();
    const [, gone = ''] = await payTimes(merchant, 2);
    const { deps, courier } = world.gateway;
    const pageOfEvents: typeof deps.store.pageOfEvents = async (filter) => {
      const page = await deps.store.pageOfEvents(filter);
      await rowsOf(world, 'delete from webhook_event where id = $1', [gone]);
      return page;
    };
    const answering = {
      receipt: undefined,
      render: (answer: RangeReplayed) => ({ status: 200, body: String(answer.replayed) }),
      renderRefusal: (refusal: Refusal) => ({ status: refusal.http, body: '' }),
    };
    const range = { from, until: world.clock.now(), status: undefined, beyond: undefined };
    const caller = { kind: 'merchant', merchant: merchant.merchant, credentialId: '' } as const;
    const store = { ...deps.store, pageOfEvents };
    expect(await replayOwnRange({ ...deps, store }, courier, caller, range, answering)).toMatchObject({ body: '1' });
  });

  test('accepts a span of 31 days, and treats a future one as empty', async () => {
    const merchant = await world.merchant();
    expect((await replay(merchant, { from: '2026-10-01', to: '2026-10-31' })).json.replayed).toBe(0);
    const from = Date.UTC(2026, 9, 1, 12);
    expect((await replay(merchant, { from: iso(from), to: iso(from + 31 * DAY) })).json.replayed).toBe(0);
    const longer = await replay(merchant, { from: iso(from), to: iso(from + 31 * DAY + 1) });
    expect(longer.json.details).toMatchObject([{ field: 'to', code: 'SPAN_TOO_LONG' }]);
    expect((await replay(merchant, { from: iso(world.clock.now() + DAY) })).json.replayed).toBe(0);
  });
});
