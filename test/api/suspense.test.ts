/**
 * `mbongo suspense`: whose money lies in suspense, and why; its sums are those of the ledger; and the command that it names works.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../src/commands/output.ts';
import { type SuspenseListOptions, suspenseList } from '../../src/commands/suspense.ts';
import { formatMinor } from '../../src/domain/money.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { listSuspense } from '../../src/usecases/suspense-read.ts';
import type { Document } from '../support/command-line.ts';
import {
  collect,
  collectWith,
  type Fields,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
} from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { openPayer } from '../support/payout-lines.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { pngFile, promise, upload } from '../support/transfer-flows.ts';
import { TURNED_AWAY as BUSY } from '../support/wavering-carrier.ts';

let desk: OutDesk;
let merchant: MerchantCreated;

beforeAll(async () => {
  desk = await openOutDesk();
  merchant = await desk.world.merchant();
});
afterAll(() => desk.close());

/** A payment by phone that failed, and was paid after that. */
async function paidLate(of = merchant, fields: Fields = {}): Promise<{ readonly paying: Paying; readonly id: string }> {
  const { world } = desk;
  const paying = await collect(world, of, fields);
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  const attempt = await attemptOf(world, paying);
  for (const word of ['FAILED', 'SUCCESSFUL'] as const) await desk.hearOf(attempt, word);
  return { paying, id: attempt.id };
}

/** A payment whose phone's carrier turned it away and took the money all the same, after a wallet had paid. */
async function paidTwice(of = merchant): Promise<string> {
  const { world, carrier } = desk;
  const paying = await collect(world, of);
  carrier.answer(BUSY);
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(502);
  const attempt = await desk.lastAttempt(paying.transaction_id, 'not_sent');
  expect((await payFromWallet(world, paying, await world.wallet())).json.status).toBe('approved');
  await desk.hearOf(attempt, 'SUCCESSFUL');
  return attempt.id;
}

const list = (words = ''): Promise<Document> => desk.cli.json(`suspense list ${words}`.trim());
/** The same by the clock of the world, which stands still; the command line has the machine's. */
const listAt = (options: Partial<SuspenseListOptions>) =>
  suspenseList({ deps: desk.world.gateway.deps }, { limit: '50', ...options });
const idsOf = (document: Output['document']) => (document.suspense as Document[]).map(({ attempt_id }) => attempt_id);

describe('mbongo suspense list', () => {
  test('says whose money lies there, since when and why, with sums that are the ledger’s', async () => {
    const { paying, id } = await paidLate();
    const twice = await paidTwice();
    const payer = await openPayer(desk.world, 100_00n);
    const sent = await desk.paidLate(payer);
    expect((await desk.world.gateway.store.auditAll()).findings, 'the auditor knows that money').toEqual([]);
    const listed = await list();
    expect(listed).toMatchObject({
      suspense: [
        {
          attempt_id: id,
          since: expect.stringMatching(/^2026-11-20T/),
          way: 'came',
          purpose: 'payment',
          amount: '12.50',
          currency: 'usd',
          why: 'paid_late',
          transaction_id: paying.transaction_id,
          status: 'failed',
          customer_reference: paying.reference,
          merchant_id: merchant.merchant.id,
          connector: 'mtn-momo',
        },
        { attempt_id: twice, why: 'paid_twice', status: 'approved' },
        {
          attempt_id: sent.attempt.id,
          way: 'left',
          purpose: 'payout',
          amount: '10.00',
          why: 'sent_late',
          status: 'failed',
          merchant_id: payer.merchant.id,
        },
      ],
      next: null,
      sums: [{ currency: 'usd', came_count: 2, came: '25.00', left_count: 1, left: '10.00', balance: '15.00' }],
      ledger: { agrees: true, balances: [{ currency: 'usd', balance: '15.00' }], differences: [] },
      undecided: [],
    });
    const { status, out, err } = await desk.cli.run('suspense list');
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^attempt +since +way +amount +why +transaction +status +merchant +upstream\natt_/);
    expect(out).toMatch(/\nusd {2}25\.00 came \(2\), 10\.00 left \(1\): 15\.00 in suspense\nThe ledger's suspense/);
    expect(out).toMatch(/\nTo whom one can be given, and how: mbongo suspense show <attempt>\n$/);
  });

  test('an order whose other late money its merchant was given has been paid twice', async () => {
    const { world, carrier } = desk;
    const paying = await collect(world, merchant);
    carrier.answer(BUSY);
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(502);
    const one = await desk.lastAttempt(paying.transaction_id, 'not_sent');
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
    const two = (await desk.attemptsOf(paying.transaction_id)).at(-1);
    if (two === undefined) throw new Error('no second attempt was made');
    await desk.hearOf(two, 'FAILED');
    for (const attempt of [one, two]) await desk.hearOf(attempt, 'SUCCESSFUL');
    const whyOf = async () => (await desk.cli.json(`suspense show ${two.id}`)).why;
    expect(await whyOf()).toBe('paid_late');
    await desk.book(one, 'merchant');
    expect(await whyOf()).toBe('paid_twice');
    await desk.book(two, 'payer');
  });

  test('reads an order once, however many of its attempts lie there, and says the fee of each', async () => {
    const other = await desk.world.merchant();
    const { id } = await paidLate(other);
    const own = "'id', a.id || '_' || n, 'reference', a.reference || n, 'status', 'approved', 'fee_minor', n";
    const copy = `jsonb_build_object(${own})`;
    const copied = `insert into attempt select (jsonb_populate_record(a, ${copy})).* from attempt a`;
    await rowsOf(desk.world, `${copied}, generate_series(1, 20) n where a.id = $1`, [id]);
    const { deps } = desk.world.gateway;
    let reads = 0;
    const ofSession: typeof deps.store.payment.ofSession = (...key) => {
      reads += 1;
      return deps.store.payment.ofSession(...key);
    };
    const store = { ...deps.store, payment: { ...deps.store.payment, ofSession } };
    const seen = await listSuspense({ ...deps, store }, { merchantId: other.merchant.id, limit: 50 });
    await rowsOf(desk.world, "delete from attempt where id like 'att%\\_%\\_%'");
    expect(seen.map(({ why, order }) => [why, order.status])).toEqual(
      Array.from({ length: 21 }, () => ['paid_late', 'failed']),
    );
    expect(reads).toBe(1);
    expect(seen.map(({ order }) => order.fee_minor)).toEqual(seen.map(({ attempt }) => attempt.fee_minor));
    expect(new Set(seen.map(({ order }) => order.fee_minor)).size).toBe(21);
  });

  test('of one merchant, one currency, or what has waited for long; page by page', async () => {
    const other = await desk.world.merchant();
    const { id } = await paidLate(other);
    const { id: francs } = await paidLate(other, { minted: { currency: 'cdf', amount: '30000.00' } });
    const of = `--merchant ${other.merchant.id}`;
    expect(idsOf(await list(of))).toEqual([id, francs]);
    expect(await list(`${of} --currency cdf`)).toMatchObject({
      suspense: [{ attempt_id: francs, amount: '30000.00' }],
      sums: [{ currency: 'cdf', came_count: 1, came: '30000.00', left: '0.00', balance: '30000.00' }],
      ledger: { agrees: true },
    });
    expect(await list(`${of} --limit 1`)).toMatchObject({ suspense: [{ attempt_id: id }], next: id });
    expect(idsOf(await list(`${of} --limit 1 --after ${id}`))).toEqual([francs]);
    expect(await list(`${of} --older-than 999999d`)).toMatchObject({ suspense: [], sums: [], next: null });
    const old = async () => idsOf((await listAt({ merchant: other.merchant.id, olderThan: '1h' })).document);
    expect(await old()).toEqual([]);
    await desk.world.clock.advance(2 * 3_600_000);
    expect(await old()).toEqual([id, francs]);
  });

  test('what the ledger’s account does not hold is said, and the answer is no', async () => {
    await paidLate();
    const { shard } = merchant.merchant;
    const held = (await desk.world.gateway.store.account.get(shard, 'suspense:usd'))?.balance ?? 0n;
    const move = (minor: number) =>
      rowsOf(desk.world, "update account set balance = balance + $1 where id = 'suspense:usd' and shard = $2", [
        minor,
        shard,
      ]);
    await move(7);
    const { status, out, err } = await desk.cli.run('suspense list --currency cdf');
    await move(-7);
    expect([status, err]).toEqual([1, '']);
    const [holds, moved] = [formatMinor(held + 7n, 'usd'), formatMinor(held, 'usd')];
    expect(out).toContain(
      `\nWRONG: suspense:usd of shard ${shard} holds ${holds} usd, but its attempts moved ${moved}: run mbongo doctor, `,
    );
    expect((await list()).ledger).toMatchObject({ agrees: true });
  });

  test('an account that no attempt belongs to, and attempts whose account is not there, are said as well', async () => {
    await paidLate();
    const { shard } = merchant.merchant;
    const rename = "update account set id = $2 where id = $1 and shard = $3 and currency = 'usd'";
    const odd =
      "insert into account (shard, id, currency, balance, floored) values ($1, 'suspense:ugx', 'ugx', 5, false)";
    await rowsOf(desk.world, odd, [shard]);
    await rowsOf(desk.world, rename, ['suspense:usd', 'lost:usd', shard]);
    const { status, out } = await desk.cli.run('suspense list');
    await rowsOf(desk.world, rename, ['lost:usd', 'suspense:usd', shard]);
    await rowsOf(desk.world, "delete from account where id = 'suspense:ugx'");
    expect(status).toBe(1);
    expect(out).toContain(`WRONG: suspense:ugx of shard ${shard} holds 5 ugx, but its attempts moved 0: `);
    expect(out).toContain(`WRONG: suspense:usd of shard ${shard} holds 0.00 usd, but its attempts moved `);
  });

  test('names beside it what a person has yet to decide', async () => {
    const { world } = desk;
    const shop = await world.merchant();
    const [asked, paid] = [await promise(world, shop), await promise(world, shop)];
    const proofs = [];
    for (const paying of [asked, paid]) proofs.push((await upload(world, paying, pngFile())).json.proof.id);
    await approveProof(world.gateway.deps, proofs[1], null);
    await refunded(world, shop, paid, { amount: '2.00' });
    const open = await collect(world, shop);
    expect((await payByPhone(world, open, numberEnding('42'))).status).toBe(200);
    const attempt = await attemptOf(world, open);
    desk.carrier.say(attempt.reference, 'cannot_tell');
    // Decided, though it is inquired about for another day.
    const refused = await collect(world, shop);
    expect((await payByPhone(world, refused, numberEnding('42'))).status).toBe(200);
    await desk.hearOf(await attemptOf(world, refused), 'FAILED');
    const said = () => listAt({ merchant: shop.merchant.id });
    const undecided = async () => (await said()).document.undecided;
    const see = { proof: 'mbongo proof list --status waiting', refund: 'mbongo refund list --status pending' };
    const young = [
      { kind: 'proof', currency: 'usd', count: 1, amount: '12.50', see: see.proof },
      { kind: 'refund', currency: 'usd', count: 1, amount: '2.00', see: see.refund },
    ];
    expect(await undecided()).toMatchObject(young);
    await world.clock.advance(2 * 3_600_000);
    expect(await undecided()).toMatchObject([
      young[0],
      { kind: 'attempt_in', count: 1, amount: '12.50', see: 'mbongo attempt list' },
      young[1],
    ]);
    expect((await said()).lines.join('\n')).toMatch(
      /^none\n\nThe ledger's .*\nNot in suspense, but it waits for a person: 1 proof to decide, 12\.50 usd, the oldest since 2026-\S+: mbongo proof list --status waiting\n/,
    );
    await desk.hearOf(attempt, 'SUCCESSFUL');
    // Of a shard 256 are counted at most.
    const copies = `from refund r, generate_series(1, 255) n where r.merchant_id = '${shop.merchant.id}'`;
    const copy = "(jsonb_populate_record(r, jsonb_build_object('id', r.id || '_' || n))).*";
    await rowsOf(world, `insert into refund select ${copy} ${copies}`);
    const many = (await said()).lines.join('\n');
    expect(await undecided()).toMatchObject([{ at_least: false }, { kind: 'refund', count: 256, at_least: true }]);
    await rowsOf(world, "delete from refund where id like 'rfd%\\_%\\_%'");
    expect(many).toContain(
      'waits for a person: at least 256 refunds to carry out by hand, 512.00 usd, some since 2026-',
    );
    expect(many).toContain('waits for a person: 1 proof to decide, 12.50 usd, the oldest since');
  });
});

describe('mbongo suspense show', () => {
  /** Runs what the command line says to type. */
  const typed = (command: unknown) => {
    const words = String(command).replace('mbongo ', '').replaceAll("'…'", 'they-wrote').split(' ');
    return desk.cli.run(words);
  };
  const choicesOf = async (id: string) => (await desk.cli.json(`suspense show ${id}`)).choices as Document[];

  test('says to whom it can be booked, and the command that it names does it', async () => {
    const { id } = await paidLate();
    const [payer, keeper] = await choicesOf(id);
    expect(payer).toMatchObject({ to: 'payer', possible: true, why_not: null });
    expect(keeper).toMatchObject({ to: 'merchant', possible: true });
    const { out } = await desk.cli.run(`suspense show ${id}`);
    expect(out).toContain('merchant_name       ');
    expect(out).toMatch(/\nphone_number +\+243 81 ••• •• 42\n/);
    expect(out).toMatch(
      new RegExp(
        `\n\nto the payer: return the money [^\n]+; then\n {2}mbongo attempt book ${id} --to payer --reference '…' `,
      ),
    );
    expect(await typed(payer?.command)).toMatchObject({ status: 0 });
    expect(idsOf(await list())).not.toContain(id);
    expect(await desk.cli.run(`suspense show ${id}`)).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringContaining('has been booked already, to the payer'),
    });
  });

  test('and why it cannot be booked to another', async () => {
    const twice = await paidTwice();
    const [payer, keeper] = await choicesOf(twice);
    expect(payer).toMatchObject({ to: 'payer', possible: true });
    expect(keeper).toMatchObject({
      to: 'merchant',
      possible: false,
      command: null,
      why_not: expect.stringContaining('so it was paid without this money'),
    });
    expect((await desk.cli.run(`suspense show ${twice}`)).out).toMatch(/\nto the merchant: not now: txn_/);
  });

  test('of money that left: upstream, merchant or gateway; a line that is paid again is open', async () => {
    const { line, attempt } = await desk.paidLate(await openPayer(desk.world, 100_00n));
    expect((await choicesOf(attempt.id)).map(({ to, possible }) => [to, possible])).toEqual([
      ['upstream', true],
      ['merchant', true],
      ['gateway', true],
    ]);
    expect(await desk.cli.json(`suspense show ${attempt.id}`)).toMatchObject({
      why: 'sent_late',
      transaction_id: line.id,
      customer_reference: line.customer_reference,
      amount: '10.00',
      // The merchant would pay it, too.
      fee: formatMinor(line.fee_minor, line.currency),
    });
    expect(line.fee_minor).toBe(10n);
    const [, , gateway] = await choicesOf(attempt.id);
    expect(await typed(gateway?.command)).toMatchObject({ status: 0 });
  });

  test('an order that is not over: nobody can be given the money as the merchant’s yet', async () => {
    const { world, carrier } = desk;
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('42');
    carrier.answer(BUSY);
    expect((await payByPhone(world, paying, msisdn)).status).toBe(502);
    const first = await desk.lastAttempt(paying.transaction_id, 'not_sent');
    carrier.answer(async () => {
      await desk.hearOf(first, 'SUCCESSFUL');
      return BUSY;
    });
    expect((await payByPhone(world, paying, msisdn)).status).toBe(502);
    expect(await desk.cli.json(`suspense show ${first.id}`)).toMatchObject({
      why: 'order_open',
      status: 'pending',
      choices: [
        { to: 'payer', possible: true },
        { to: 'merchant', possible: false },
      ],
    });
    const second = { ...paying, ...(await collectWith(world, paying.token)) };
    expect((await payFromWallet(world, second, await world.wallet())).json.error_code).toBe('1110');
  });
});

test.each([
  ['suspense list --currency franc', 2, '"franc" is not a currency'],
  ['suspense list --older-than 3', 2, '"3" is not a duration'],
  ['suspense list --limit 0', 2, 'the limit must be a whole number'],
  ['suspense list --after txn_1', 2, 'the attempt id is not valid'],
  ['suspense list --merchant mch_1', 2, 'the merchant id is not valid'],
  ['suspense show txn_1', 2, 'the attempt id is not valid'],
  ['suspense show', 2, "missing required argument 'id'"],
])('%s ends with %i', async (words, exit, said) => {
  const { status, out, err } = await desk.cli.run(words);
  expect([status, out]).toEqual([exit, '']);
  expect(err).toContain(said);
});
