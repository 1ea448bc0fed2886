/**
 * `mbongo reconcile`: a statement made from the carrier's book agrees with ours; each kind of difference is its own verdict.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readStatement } from '../../src/commands/statement-file.ts';
import type { Attempt } from '../../src/domain/records.ts';
import type { UpstreamQuestion } from '../../src/store/upstream-span.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { reconcile } from '../../src/usecases/reconcile.ts';
import { executeRefund } from '../../src/usecases/refund-decide.ts';
import { readyToPay, submitCard } from '../support/card-payments.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { untilStatus } from '../support/flows.ts';
import { attemptOf, pushed } from '../support/phone-payments.ts';
import { paidByPhone, refunded, untilRefund, untilTurnedAway } from '../support/refund-flows.ts';
import { expectNothingWritten, rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let cli: CommandLine;
let paid: Attempt[];
let refused: Attempt;
let open: Attempt;
let files = 0;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
  cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
  // The first command that opens a database records its key there.
  await cli.json('merchant list');
  const payments = await Promise.all(['01', '01', '01', '01'].map((ending) => pushed(world, merchant, ending)));
  const declined = await pushed(world, merchant, '02');
  const waiting = await pushed(world, merchant, '42');
  for (const payment of payments) await untilStatus(world, payment, 'approved');
  await untilStatus(world, declined, 'failed');
  paid = await Promise.all(payments.map((payment) => attemptOf(world, payment)));
  refused = await attemptOf(world, declined);
  open = await attemptOf(world, waiting);
});
afterAll(async () => {
  await cli.close();
  await world.close();
});

const HEAD = 'date,reference,amount,currency,status,provider_reference';
const DAY = '2026-11-20';

function lineOf(attempt: Attempt, status = 'SUCCESSFUL', amount = status === 'FAILED' ? '0.00' : '12.50'): string {
  return [DAY, attempt.reference, amount, 'USD', status, attempt.provider_reference ?? ''].join(',');
}

async function statement(...lines: readonly string[]): Promise<string> {
  files += 1;
  const path = join(cli.dataDir, `statement-${files}.csv`);
  await writeFile(path, [HEAD, ...lines, ''].join('\n'));
  return path;
}

const whole = (): string[] => [...paid.map((one) => lineOf(one)), lineOf(refused, 'FAILED'), lineOf(open, 'PENDING')];
async function reconciled(path: string, more = ''): Promise<{ status: number; document: Record<string, unknown> }> {
  const { status, out, err } = await cli.run(`reconcile ${path} --connector mtn-momo --json ${more}`.trim());
  expect(err).toBe('');
  return { status, document: JSON.parse(out) as Record<string, unknown> };
}

const NONE = { matched: 0, missing_here: 0, missing_there: 0, amount: 0, status: 0, duplicate: 0 };

const byId = (line: string): string =>
  [...paid, refused, open].reduce((text, { reference, id }) => text.replace(reference, id), line);

const NAMED = [
  ['our references, in upper case too', (line: string, at = 0) => (at === 0 ? line.toUpperCase() : line)],
  ['our attempts’ ids', byId],
] as const;

test.each(NAMED)('a statement that says what happened, by %s, agrees, and nothing is written', async (_, named) => {
  const path = await statement(...whole().map(named).toReversed());
  await expectNothingWritten(world, async () => {
    expect(await reconciled(path)).toEqual({
      status: 0,
      document: {
        agrees: true,
        file: path,
        connector: 'mtn-momo',
        from: '2026-11-20T00:00:00.000Z',
        to: '2026-11-21T00:00:00.000Z',
        lines: 6,
        verdicts: { ...NONE, matched: 6 },
        totals: [{ currency: 'usd', statement: '50.00', attempts: '50.00', booked: true, outside: '0.00' }],
        differences: [],
        report: null,
      },
    });
  });
  const { out } = await cli.run(`reconcile ${path} --connector mtn-momo`);
  expect(out).toMatch(/^6 lines from 2026-11-20T00:00:00.000Z to .*: everything matches\n/);
});

test('a statement that names some lines by one and some by the other is refused', async () => {
  const path = await statement(...whole().map((line, at) => (at === 0 ? byId(line) : line)));
  const { status, err } = await cli.run(`reconcile ${path} --connector mtn-momo`);
  expect([status, err]).toEqual([1, expect.stringContaining('by its reference')]);
});

test('what matches but ended here after the statement’s last time is named, because our sums lack it', async () => {
  const last = paid.toSorted((a, b) => (a.settled_at ?? 0) - (b.settled_at ?? 0)).at(-1) as Attempt;
  const before = new Date((last.settled_at ?? 0) - 1_000).toISOString();
  const path = await statement(lineOf(last).replace(DAY, before));
  const { status, document } = await reconciled(path, '--from 2026-11-20');
  expect([status, document]).toMatchObject([0, { agrees: true, totals: [{ statement: '12.50', outside: '12.50' }] }]);
  const { out } = await cli.run(`reconcile ${path} --connector mtn-momo --from 2026-11-20`);
  expect(out).toMatch(/^1 line from /);
  expect(out).toContain('12.50 usd of what matches ended here before or after that span, and is not in our sums');
});

test('each kind of difference is its own verdict, with a report that is safe in a spreadsheet', async () => {
  const [first, second, third] = paid as [Attempt, Attempt, Attempt];
  const path = await statement(
    lineOf(first),
    lineOf(first),
    lineOf(second, 'SUCCESSFUL', '12.49'),
    lineOf(third, 'FAILED'),
    lineOf(refused, 'SUCCESSFUL'),
    `${DAY},"=HYPERLINK(""https://evil.example"")",3.00,usd,PAID,@x`,
  );
  const report = join(cli.dataDir, 'report.csv');
  const { status, document } = await reconciled(path, `--report ${report}`);
  expect(status).toBe(1);
  expect(document).toMatchObject({
    agrees: false,
    lines: 6,
    report,
    verdicts: { matched: 1, missing_here: 1, missing_there: 1, amount: 1, status: 2, duplicate: 1 },
    totals: [{ currency: 'usd', statement: '52.99', attempts: '50.00', booked: true }],
  });
  expect(
    (document.differences as { verdict: string; line: string }[]).map(({ verdict, line }) => [line, verdict]),
  ).toEqual([
    ['3', 'duplicate'],
    ['4', 'amount'],
    ['5', 'status'],
    ['6', 'status'],
    ['7', 'missing_here'],
    ['', 'missing_there'],
  ]);
  const written = (await readFile(report, 'utf8')).split('\r\n');
  expect(written[0]).toBe(
    'verdict,line,reference,attempt_id,transaction_id,currency,their_amount,our_amount,their_status,our_status,date,provider_reference',
  );
  expect(written).toHaveLength(9);
  expect(written[3]).toContain(
    `amount,4,${second.reference},${second.id},${second.payment_id},usd,12.49,12.50,SUCCESSFUL`,
  );
  expect(written[6]).toContain(`missing_here,7,"'=HYPERLINK(""https://evil.example"")",`);
  expect(written[6]).toMatch(/,'@x$/);
  expect(written.join()).not.toMatch(/24381\d{4}/);

  const again = await cli.run(`reconcile ${path} --connector mtn-momo --report ${report}`);
  expect([again.status, again.out]).toEqual([1, '']);
  expect(again.err).toContain('already exists');
});

test('the span determines which of ours the statement should contain', async () => {
  const [first] = paid as [Attempt];
  const path = await statement(lineOf(first));
  expect((await reconciled(path)).document.verdicts).toEqual({ ...NONE, matched: 1, missing_there: 3 });
  const later = await reconciled(path, '--from 2026-11-21 --to 2026-11-22');
  expect(later).toMatchObject({ status: 0, document: { verdicts: { ...NONE, matched: 1 } } });
  for (const month of ['2026-09', '2027-01']) {
    const far = await reconciled(path, `--from ${month}-01 --to ${month}-02`);
    expect(far, month).toMatchObject({ status: 0, document: { verdicts: { ...NONE, matched: 1 } } });
  }
  const francs = await reconciled(await statement(lineOf(first).replace('USD', 'CDF')));
  expect(francs.document.verdicts).toEqual({ ...NONE, amount: 1, missing_there: 3 });
});

test('what was open for longer than its upstream is given is compared too', async () => {
  const [first, ...others] = paid as [Attempt, ...Attempt[]];
  const earlier = (days: number) =>
    rowsOf(world, "update attempt set created_at = created_at - $1 * interval '1 day' where id = any($2)", [
      days,
      [first.id, open.id],
    ]);
  await earlier(10);
  expect(await reconciled(await statement(...whole()))).toMatchObject({
    status: 0,
    document: { verdicts: { ...NONE, matched: 6 } },
  });
  const without = await statement(...others.map((one) => lineOf(one)), lineOf(refused, 'FAILED'), lineOf(open));
  expect(await reconciled(without)).toMatchObject({
    status: 1,
    document: { verdicts: { ...NONE, matched: 4, missing_there: 1, status: 1 } },
  });
  await earlier(-10);
});

test.each(NAMED)(
  'what was closed long before its line, by %s, is compared with it, whatever the span',
  async (_, named) => {
    const earlier = (days: number) =>
      rowsOf(
        world,
        `update attempt set created_at = created_at - $1 * interval '1 day', settled_at = settled_at - $1 * interval '1 day'
       where id = $2`,
        [days, refused.id],
      );
    await earlier(10);
    const path = await statement(
      ...[...paid, refused].map((one) => named(lineOf(one))),
      named(lineOf(open, 'PENDING')).replace(DAY, '1970-01-01'),
      `${DAY},"no""body\\’s",3.00,usd,PAID,`,
    );
    const verdicts = { ...NONE, matched: 5, status: 1, missing_here: 1 };
    const found = await reconciled(path);
    expect(found).toMatchObject({ status: 1, document: { from: '2026-11-20T00:00:00.000Z', verdicts } });
    expect(found.document.differences).toMatchObject([
      { verdict: 'status', attempt_id: refused.id, our_status: 'declined' },
      { verdict: 'missing_here', attempt_id: '' },
    ]);
    const said = await reconciled(path, '--from 2026-10-01 --to 2026-10-02');
    expect(said).toMatchObject({ status: 1, document: { verdicts } });
    await earlier(-10);
  },
);

test('a line with a date far back makes it read no more of ours', async () => {
  const path = await statement(...whole(), '1970-01-01,nobody’s,3.00,usd,PENDING,');
  const days = { from: Date.parse(DAY), to: Date.parse('2026-11-21') };
  const asked: UpstreamQuestion[] = [];
  const upstreamSpan = (question: UpstreamQuestion) => {
    asked.push(question);
    return world.gateway.store.upstreamSpan(question);
  };
  const store = { ...world.gateway.store, upstreamSpan };
  for (const span of [days, { from: undefined, to: undefined }]) {
    const one = { connector: 'mtn-momo', read: () => readStatement(path), ...span };
    expect(await reconcile({ store }, one, async () => undefined)).toMatchObject(days);
  }
  expect(asked.map(({ settled }) => settled)).toEqual([days, days]);
  for (const { made } of asked) expect(made.from).toBeGreaterThan(Date.parse('2026-11-01'));
});

test('a statement of cards, and one of payouts when there were none', async () => {
  const paying = await readyToPay(world, merchant, 'frictionless');
  expect((await submitCard(world, paying)).status).toBe(200);
  const attempt = await attemptOf(world, paying);
  for (const [word, status, found] of [
    ['CAPTURED', 0, { matched: 1 }],
    ['CHARGEBACK_PROCESSED', 1, { status: 1 }],
  ] as const) {
    const cards = await cli.run(`reconcile ${await statement(lineOf(attempt, word))} --connector mastercard --json`);
    expect([cards.status, JSON.parse(cards.out).verdicts]).toEqual([status, { ...NONE, ...found }]);
  }
  const payouts = await cli.run(
    `reconcile ${await statement(lineOf(attempt))} --connector mtn-momo-disbursement --json`,
  );
  expect([payouts.status, JSON.parse(payouts.out).verdicts]).toEqual([1, { ...NONE, missing_here: 1 }]);
});

test('a ledger that does not match the attempts is reported, also of an upstream that has none', async () => {
  const [first] = paid as [Attempt];
  const text = 'update ledger_transfer set debit_account = $2 where cause_id = $3 and debit_account = $1';
  const swap = (from: string, to: string) => rowsOf(world, text, [from, to, first.payment_id]);
  await swap('transit:mtn-momo:usd', 'transit:mtn-momo-disbursement:usd');
  const path = await statement(...whole());
  expect(await reconciled(path)).toMatchObject({
    status: 1,
    document: { agrees: false, verdicts: { ...NONE, matched: 6 }, totals: [{ currency: 'usd', booked: false }] },
  });
  const other = await cli.run(`reconcile ${path} --connector mtn-momo-disbursement --json`);
  expect(JSON.parse(other.out).totals).toMatchObject([{ attempts: '0.00', booked: false }]);
  await swap('transit:mtn-momo-disbursement:usd', 'transit:mtn-momo:usd');
});

test('compared in many parts, it finds the same', async () => {
  const [first, second] = paid as [Attempt, Attempt];
  const path = await statement(...whole().slice(1), lineOf(second), `${DAY},nobody’s,3.00,usd,PAID,`);
  const compare = async (part: number) => {
    const told: (readonly [string, string | undefined])[] = [];
    const span = { connector: 'mtn-momo', read: () => readStatement(path), from: undefined, to: undefined };
    const result = await reconcile(
      world.gateway,
      span,
      async ({ verdict, theirs, ours }) => void told.push([verdict, theirs?.reference ?? ours?.key]),
      part,
    );
    return { ...result, told: told.toSorted() };
  };
  const atOnce = await compare(1_000);
  expect(atOnce.counts).toEqual({ ...NONE, matched: 5, missing_here: 1, missing_there: 1, duplicate: 1 });
  expect(atOnce.told).toContainEqual(['missing_there', first.reference]);
  for (const part of [1, 2, 3]) expect(await compare(part)).toEqual(atOnce);
});

test.each([
  ['reconcile --connector mtn-momo', 2, 'missing required argument'],
  ['reconcile x.csv', 2, 'required option'],
  ['reconcile x.csv --connector orange', 2, 'no connector is called "orange": there is mtn-momo, mtn-momo-'],
  ['reconcile /nowhere/x.csv --connector mtn-momo', 1, 'is not a file that can be read'],
])('%s is refused', async (words, status, message) => {
  const answer = await cli.run(words);
  expect([answer.status, answer.out]).toEqual([status, '']);
  expect(answer.err).toContain(message);
});

test('without dates it asks for the span, and an unreadable file leaves no report behind', async () => {
  const [first] = paid as [Attempt];
  const undated = await statement(lineOf(first).replace(DAY, ''));
  const asked = await cli.run(`reconcile ${undated} --connector mtn-momo`);
  expect([asked.status, asked.err]).toEqual([1, expect.stringContaining('--from and --to')]);
  expect((await reconciled(undated, '--from 2026-11-20 --to 2026-11-21')).document).toMatchObject({ lines: 1 });
  const backwards = await cli.run(`reconcile ${undated} --connector mtn-momo --from 2026-11-21 --to 2026-11-20`);
  expect(backwards.err).toContain('--from must be before --to');
  const broken = await statement(lineOf(first), 'x,y');
  const report = join(cli.dataDir, 'none.csv');
  const refusedFile = await cli.run(`reconcile ${broken} --connector mtn-momo --report ${report}`);
  expect(refusedFile.err).toMatch(/line 3: it must have 6 columns/);
  await expect(readFile(report)).rejects.toThrow('ENOENT');
  const nowhere = join(cli.dataDir, 'nowhere', 'report.csv');
  const unwritable = await cli.run(`reconcile ${broken} --connector mtn-momo --report ${nowhere}`);
  expect(unwritable.err).toBe(
    `mbongo: ${nowhere} cannot be written: name a file in a folder that this user may write to\n`,
  );
});

test('a report gets its name when it is complete, and a file created there meanwhile is kept', async () => {
  const [first] = paid as [Attempt];
  const file = await statement(lineOf(first));
  const report = join(cli.dataDir, 'whole.csv');
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  const held = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const whileItWaits = async (look: () => Promise<void>) => {
    await client.query('begin; lock table attempt in access exclusive mode');
    const running = cli.run(`reconcile ${file} --connector mtn-momo --report ${report}`);
    await until(async () => (await rowsOf(world, held))[0], 20_000);
    await look();
    await client.query('rollback');
    return running;
  };
  const done = await whileItWaits(async () => {
    await expect(readFile(report)).rejects.toThrow('ENOENT');
  });
  expect([done.status, done.err]).toEqual([1, '']);
  expect((await readFile(report, 'utf8')).split('\r\n').length).toBeGreaterThan(2);
  await rm(report);
  const late = await whileItWaits(() => writeFile(report, 'mine'));
  expect([late.status, late.err]).toEqual([1, expect.stringContaining('already exists')]);
  expect(await readFile(report, 'utf8')).toBe('mine');
  expect((await readdir(cli.dataDir)).filter((name) => name.startsWith('whole'))).toEqual(['whole.csv']);
  await client.end();
});

test('a refund belongs to the upstream that sent it, and one carried out by hand to none', async () => {
  const [sent, byHand] = [await paidByPhone(world, merchant, '01'), await paidByPhone(world, merchant, '01')];
  const { refund_id } = await refunded(world, merchant, sent);
  await untilRefund(world, merchant, refund_id, 'completed');
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  const waiting = await refunded(world, merchant, byHand);
  await untilTurnedAway(world, waiting.refund_id);
  world.sandbox.faults.clear();
  const byHandSaid = { reference: 'PORTAL-7', notTaken: true };
  await executeRefund(world.gateway.deps, waiting.refund_id, byHandSaid, { by: 'amina', why: 'at the portal' });
  const brought = await Promise.all([sent, byHand].map((payment) => attemptOf(world, payment)));
  expect(await reconciled(await statement(...whole(), ...brought.map((one) => lineOf(one))))).toMatchObject({
    status: 0,
    document: { verdicts: { ...NONE, matched: 8 }, totals: [{ currency: 'usd', attempts: '75.00', booked: true }] },
  });
  const [given] = await rowsOf(world, "select * from attempt where payment_id = $1 and status = 'approved'", [
    refund_id,
  ]);
  const back = await cli.run(
    `reconcile ${await statement(lineOf(given as unknown as Attempt))} --connector mtn-momo-disbursement --json`,
  );
  expect([back.status, JSON.parse(back.out)]).toMatchObject([
    0,
    { verdicts: { ...NONE, matched: 1 }, totals: [{ currency: 'usd', attempts: '12.50', booked: true }] },
  ]);
});

test('refunds to a card are in the statement that has its payments', async () => {
  const paying = await readyToPay(world, merchant, 'frictionless');
  expect((await submitCard(world, paying)).status).toBe(200);
  const { refund_id } = await refunded(world, merchant, paying, { amount: '5.00' });
  await untilRefund(world, merchant, refund_id, 'completed');
  const made = (await rowsOf(world, "select * from attempt where connector = 'mastercard'")) as unknown as Attempt[];
  const cards = made.map((one) => lineOf(one, 'CAPTURED', one.purpose === 'refund' ? '5.00' : '12.50'));
  const compared = await cli.run(`reconcile ${await statement(...cards)} --connector mastercard --json`);
  expect([compared.status, JSON.parse(compared.out)]).toMatchObject([
    0,
    { verdicts: { ...NONE, matched: 3 }, totals: [{ attempts: '30.00', booked: true }] },
  ]);
});
