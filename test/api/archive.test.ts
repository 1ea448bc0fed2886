/**
 * The archive: what is final and old leaves the live tables, no reader can tell, and dropping a month is final.
 */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { monthOf, monthsLater } from '../../src/domain/archive.ts';
import type { Month } from '../../src/store/archive-months.ts';
import type { Store } from '../../src/store/store.ts';
import { dropArchived, listArchive } from '../../src/usecases/archive-run.ts';
import { type BookCompared, type BookMark, compareBooks } from '../../src/usecases/audit-books.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { listProofs } from '../../src/usecases/proof-read.ts';
import { reconcile } from '../../src/usecases/reconcile.ts';
import { closeDays } from '../../src/usecases/snapshot-days.ts';
import { archive, DAY, growOld, makePast, type Past, readAll } from '../support/archive-scenes.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf } from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { callBack } from '../support/phone-payments.ts';
import { refund } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { jpegFile, promise, upload } from '../support/transfer-flows.ts';
import { mint, NOON, openWorld, type World } from '../support/world.ts';

let world: World;
let past: Past;
let before: ReadonlyMap<string, string>;
/** The month in which everything of the past was made. */
const MONTH = monthOf(NOON);

/** How far the carriers' books had been compared before anything happened. */
let compared: BookMark | undefined;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  compared = (await compareCarriers(undefined))?.mark;
  past = await makePast(world);
  await growOld(world);
  before = await readAll(world, past);
});
afterAll(() => world.close());

async function compareCarriers(mark: BookMark | undefined): Promise<BookCompared | undefined> {
  const { deps } = world.gateway;
  return deps.books && compareBooks(deps, deps.books, mark);
}

async function idsIn(table: string): Promise<string[]> {
  return (await rowsOf<{ id: string }>(world, `select id from ${table} order by id`)).map(({ id }) => id);
}

const post = (path: string, body: object = {}) => world.call('POST', path, { bearer: bearerOf(past.merchant), body });

test('a dry run says what would move, and moves nothing', async () => {
  const said = await archive(world, { dry: true });
  expect(said.rows).toMatchObject({ payment: 6, payout_line: 3, payout_batch: 1, refund: 2 });
  expect(await idsIn('archive.payment')).toEqual([]);
  expect((await idsIn('payment')).length).toBe(past.over.length + past.open.length);
});

test('what is over leaves with all its rows, while it is being read; what is open, or held, stays', async () => {
  const said = await archive(world, { dry: true });
  const { token } = await mint(world, past.merchant);
  let moving = true;
  const misses: string[] = [];
  const readOn = async (): Promise<void> => {
    while (moving) {
      for (const id of past.over) {
        const read = await world.call('GET', `/payments/transaction/${id}`, { bearer: token });
        if (read.status !== 200 || read.json.timeline.length < 2) misses.push(read.text);
      }
    }
  };
  const reading = readOn();
  const moved = await archive(world);
  moving = false;
  await reading;
  expect(misses).toEqual([]);
  expect(moved).toMatchObject({ rows: { payment: 6, payout_line: 3, refund: 2 }, busy: 0 });
  // A finished session stays with a payment that stays, and the dry run knew it.
  expect(moved.rows).toEqual(said.rows);
  expect(await idsIn('archive.payment')).toEqual(past.over.toSorted());
  expect(await idsIn('payment')).toEqual(past.open.toSorted());
  expect(await idsIn('archive.payout_batch')).toEqual([past.batchId]);
});

test('the carriers’ books are compared with what has left, too', async () => {
  const after = await compareCarriers(compared);
  expect(after?.looked).toBeGreaterThan(3);
  expect(after?.findings).toEqual([]);
});

test('a second run finds nothing', async () => {
  const { rows } = await archive(world);
  expect(Object.entries(rows).filter(([, count]) => count !== 0)).toEqual([]);
});

test('every read answers as before, to the byte', async () => {
  expect(Object.fromEntries(await readAll(world, past))).toEqual(Object.fromEntries(before));
});

test('the books are sound, and closing the days again gives the same', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  const days = 'select * from account_day order by shard, account, day';
  const closed = await rowsOf(world, days);
  expect(closed.length).toBeGreaterThan(0);
  await rowsOf(world, "with gone as (delete from account_day) delete from setting where id = 'last_closed_day'");
  while ((await closeDays(world.gateway.deps)) > 0);
  expect(await rowsOf(world, days)).toEqual(closed);
  expect((await world.gateway.store.auditRecent(past.merchant.merchant.shard)).findings).toEqual([]);
});

test('a wrongly closed day is repaired as docs/operating.md says, and no other account is reported meanwhile', async () => {
  const { id, shard } = past.merchant.merchant;
  const days = 'select * from account_day order by shard, account, day';
  const closed = await rowsOf(world, days);
  const findings = async () => (await world.gateway.store.auditRecent(shard)).findings;
  await rowsOf(
    world,
    `insert into account_day select shard, id, '2026-12-24', currency, balance + 1 from account
     where id = '${id}:available:usd'`,
  );
  expect(await findings()).toMatchObject([{ kind: 'balance', account: `${id}:available:usd` }]);
  const guide = await readFile('docs/operating.md', 'utf8');
  const [remedy = ''] = /^begin;\n(?:.+\n)+commit;$/m.exec(guide) ?? [];
  await rowsOf(world, remedy.replaceAll('2026-11-20', '2026-12-24').replaceAll('2026-11-19', '2026-12-23'));
  expect(await findings()).toEqual([]);
  while ((await closeDays(world.gateway.deps)) > 0);
  expect(await findings()).toEqual([]);
  expect(await rowsOf(world, days)).toEqual(closed);
});

describe('an archived object is not changed', () => {
  test('a refund is refused, with how else the money can be returned', async () => {
    const [transaction_id] = past.over;
    const answer = await refund(world, past.merchant, { transaction_id });
    expectRefusal(answer, 409, '1205', 'ARCHIVED');
    expect(answer.json.details[0].field).toBe('transaction_id');
    expect(answer.json.details[0].message).toMatch(/new payout/);
  });

  test('a callback about it is answered as unknown, even if its attempt has stayed behind', async () => {
    const [left] = await rowsOf<{ id: string; connector: string }>(
      world,
      `select id, connector from archive.attempt where purpose = 'payment' and method = 'mobile_money' limit 1`,
    );
    if (left === undefined) throw new Error('no phone has paid in the past');
    const url = callbackUrl(world.gateway.deps, left);
    expect(await callBack(url, {})).toBe(404);
    const back = `insert into attempt select (jsonb_populate_record(null::attempt, to_jsonb(a) || '{"status":"declined"}')).*
      from archive.attempt a where a.id = '${left.id}'`;
    await rowsOf(world, back);
    expect(await callBack(url, {})).toBe(404);
    await rowsOf(world, `delete from attempt where id = '${left.id}'`);
  });

  test('another merchant’s archived payment is refused as one that does not exist', async () => {
    const stranger = await world.merchant('Librairie Goma');
    const answer = await refund(world, stranger, { transaction_id: past.over[0] });
    expectRefusal(answer, 404, '1204');
  });

  test('an event is not sent again', async () => {
    const [event] = await rowsOf<{ id: string }>(world, 'select id from archive.webhook_event limit 1');
    expectRefusal(await post(`/internal/events/${event?.id}/replay`), 409, '1205', 'ARCHIVED_EVENT');
  });

  test('a batch is not paid again', async () => {
    const answer = await post(`/internal/payouts/${past.batchId}/retry`);
    expectRefusal(answer, 409, '1205', 'ARCHIVED');
    const [line] = past.lineIds;
    const named = await post(`/internal/payouts/${past.batchId}/retry`, { transaction_ids: [line] });
    expectRefusal(named, 409, '1205', 'ARCHIVED');
  });

  test('its payment cannot be submitted', async () => {
    const [id = ''] = past.over;
    const { token } = await mint(world, past.merchant);
    const payment_id = world.gateway.deps.secrets.sealPaymentId(id);
    const body = { payment_id, payment_method_id: 'wallet', ewallet_number: '1', ewallet_pin: '1234' };
    const answer = await world.call('POST', '/payments/submit', { bearer: token, body });
    expect([404, 409]).toContain(answer.status);
  });
});

describe('a month is dropped', () => {
  /** A statement from the day before that noon on. */
  const statementFrom = (more: string): ReturnType<World['call']> => {
    const path = `/internal/statement?currency=usd&from=${new Date(NOON - DAY).toISOString()}${more}`;
    return world.call('GET', path, { bearer: bearerOf(past.merchant) });
  };
  /** A statement that reaches back into the month. */
  const statement = (more = ''): ReturnType<World['call']> =>
    statementFrom(`&to=${new Date(NOON + DAY).toISOString()}&limit=2${more}`);
  let cursor: string;
  /** Where a statement goes on that has been read to its last line. */
  let lastLine: string;

  /** Drops the month after a comparison of its time has begun: what has gone would look like money that is nobody's. */
  const dropWhileCompared = async (): Promise<Month | undefined> => {
    const { deps } = world.gateway;
    let dropped: Month | undefined;
    const upstreamSpan: Store['upstreamSpan'] = async (question) => {
      dropped = await dropArchived(deps, MONTH);
      return deps.store.upstreamSpan(question);
    };
    const theirs = { connector: 'mtn-momo', read: async function* () {}, from: NOON - DAY, to: NOON + DAY };
    const comparing = reconcile({ store: { ...deps.store, upstreamSpan } }, theirs, () => Promise.resolve());
    await expect(comparing).rejects.toThrow(`records before ${monthsLater(MONTH, 1)}-01 have been dropped`);
    return dropped;
  };

  test('only as the oldest, and only once the ledger of its time has been archived', async () => {
    const months = (await listArchive(world.gateway.deps)).map(({ month }) => month);
    expect(months).toEqual([MONTH]);
    await expect(dropArchived(world.gateway.deps, '2024-5')).rejects.toThrow(/write it like/);
    await expect(dropArchived(world.gateway.deps, monthsLater(MONTH, 1))).rejects.toThrow(/archive list/);
    const [line] = await rowsOf<{ id: string }>(
      world,
      `with gone as (delete from archive.ledger_transfer where id = (select min(id) from archive.ledger_transfer) returning *)
       insert into ledger_transfer select * from gone returning id`,
    );
    await expect(dropArchived(world.gateway.deps, MONTH)).rejects.toThrow(/not archived yet/);
    await archive(world);
    expect(await idsIn('archive.ledger_transfer')).toContain(line?.id);
  });

  test('only once its days are closed: their balances replace its lines', async () => {
    const closed = (day: string) => rowsOf(world, "update setting set value = $1 where id = 'last_closed_day'", [day]);
    const last = await world.gateway.store.lastClosedDay();
    await closed(new Date(NOON - DAY).toISOString().slice(0, 10));
    await expect(dropArchived(world.gateway.deps, MONTH)).rejects.toThrow(/not closed/);
    expect(await idsIn('archive.ledger_transfer')).not.toEqual([]);
    await closed(last ?? '');
  });

  test('its tables go, and what is left adds up to the day on which it begins', async () => {
    for (const minor of [3_00n, 2_00n]) await fund(world, past.merchant, minor);
    const whole = (await statementFrom('&limit=1000')).json;
    const allButOne = await statementFrom(`&limit=${whole.lines.length - 1}`);
    lastLine = `&limit=1&cursor=${allButOne.json.next_cursor}`;
    const held = (await world.call('GET', '/internal/balances', { bearer: bearerOf(past.merchant) })).text;
    cursor = (await statement()).json.next_cursor;
    expect((await statement(`&cursor=${cursor}`)).status).toBe(200);
    const dropped = await dropWhileCompared();
    expect(dropped?.tables.find(({ table }) => table === 'payment')?.rows).toBe(past.over.length);
    expect(await listArchive(world.gateway.deps)).toEqual([]);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
    expect((await world.call('GET', '/internal/balances', { bearer: bearerOf(past.merchant) })).text).toBe(held);
  });

  test('a statement that reaches into it is refused, and names the first day available', async () => {
    const ask = (from: number, format = 'json') =>
      world.call('GET', `/internal/statement?currency=usd&format=${format}&from=${new Date(from).toISOString()}`, {
        bearer: bearerOf(past.merchant),
      });
    const gone = await ask(NOON - DAY);
    expectRefusal(gone, 400, '1110', 'BEFORE_RECORDS');
    // As a table too, of which nothing has been sent by then.
    expectRefusal(await ask(NOON - DAY, 'csv'), 400, '1110', 'BEFORE_RECORDS');
    expect(gone.json.details[0].field).toBe('from');
    const day = `${monthsLater(MONTH, 1)}-01`;
    expect(gone.json.details[0].message).toContain(day);
    const kept = await ask(Date.parse(`${day}T00:00:00Z`));
    expect(kept.status, kept.text).toBe(200);
    expect(kept.json.lines).toHaveLength(2);
  });

  test('a statement that was begun before does not continue without its lines', async () => {
    expectRefusal(await statement(`&cursor=${cursor}`), 400, '1110', 'BEFORE_RECORDS');
  });

  test('but does once those have been read', async () => {
    const { json, text } = await statementFrom(lastLine);
    expect(json.lines, text).toHaveLength(1);
    expect(json.page.closing_balance).toBe(json.closing_balance);
  });

  test('its payments are no longer found, and those that stayed are', async () => {
    const { token } = await mint(world, past.merchant);
    const read = (id = '') => world.call('GET', `/payments/status/${id}`, { bearer: token });
    expectRefusal(await read(past.over[0]), 404, '1204');
    expect((await read(past.open[0])).status).toBe(200);
  });
});

test('an archived proof that was accepted still shows that its file is used again', async () => {
  const file = jpegFile();
  const first = await promise(world, past.merchant);
  const { json: uploaded } = await upload(world, first, file);
  await approveProof(world.gateway.deps, uploaded.proof.id, null);
  await growOld(world);
  await archive(world);
  expect(await idsIn('archive.proof')).toEqual([uploaded.proof.id]);
  const again = await promise(world, await world.merchant('Librairie Goma'));
  const { json: reused } = await upload(world, again, file);
  const waiting = await listProofs(world.gateway.deps, { merchantId: undefined, status: 'waiting', limit: 10 });
  expect(waiting.map(({ proof, duplicateOf }) => [proof.id, duplicateOf])).toEqual([
    [reused.proof.id, [first.transaction_id]],
  ]);
});
