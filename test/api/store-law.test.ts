/**
 * The law of the group commit: many concurrent callers have the same effect as some serial order of their changes.
 */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Change, Outcome } from '../../src/domain/change.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer, aPayment, aTransfer, numbered } from '../support/store-records.ts';

const PAYMENTS = 5;
const WALLETS = 3;

/** What a caller wants: written against the versions that it reads when its turn comes. */
interface Wish {
  readonly payments: readonly number[];
  /** Relies on an older version than it reads. */
  readonly stale: boolean;
  readonly key: number;
  readonly forget: number | undefined;
  readonly moves: readonly { readonly from: number; readonly to: number; readonly amount: bigint }[];
  readonly poison: 'none' | 'check' | 'nul' | 'unwritable';
}

const wish: fc.Arbitrary<Wish> = fc.record({
  payments: fc.uniqueArray(fc.nat(PAYMENTS - 1), { maxLength: 2 }),
  stale: fc.nat(9).map((n) => n === 0),
  key: fc.nat(400),
  forget: fc.option(fc.nat(400), { nil: undefined, freq: 6 }),
  moves: fc.array(
    fc
      .record({ from: fc.nat(WALLETS), to: fc.nat(WALLETS), amount: fc.bigInt(1n, 9n) })
      .filter(({ from, to }) => from !== to),
    { maxLength: 3 },
  ),
  poison: fc.oneof(
    { weight: 30, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: fc.constantFrom('check' as const, 'nul' as const, 'unwritable' as const) },
  ),
});

const account = (n: number): string => (n === 0 ? 'float' : `wallet ${n}`);

/** A decided wish: the change, and the parts that the model needs. */
interface Decided {
  readonly n: string;
  readonly change: Change;
  readonly guards: readonly { readonly id: string; readonly version: number }[];
  readonly wish: Wish;
}

let database: TestDatabase;
let client: pg.Client;
let stores: readonly [Store, Store];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  stores = [await openStore({ url: database.url }), await openStore({ url: database.url })];
});

afterAll(async () => {
  for (const store of stores) await store.close();
  await client.end();
  await database.drop();
});

async function reset(): Promise<void> {
  await client.query('truncate payment, account, ledger_transfer, idempotency, webhook_event');
  const claims = Array.from({ length: PAYMENTS }, (_, n) => ({ table: 'payment' as const, row: aPayment(n) }));
  expect(await stores[0].commit({ claims })).toBe('won');
}

async function decide(store: Store, wanted: Wish, n: string): Promise<Decided> {
  const guards = await Promise.all(
    wanted.payments.map(async (number) => {
      const id = numbered('txn', number);
      const payment = await store.payment.get(0, id);
      return { id, version: (payment?.version ?? 0) - (wanted.stale ? 1 : 0) };
    }),
  );
  const poison = { none: n, check: null, nul: `${n}\u0000`, unwritable: n }[wanted.poison];
  const key = `key ${wanted.key}`;
  const change: Change = {
    updates: guards.map(({ id, version }, at) => ({
      table: 'payment',
      shard: 0,
      id,
      version,
      // Different sets of columns are different statements.
      row: at === 0 ? { carrier: n } : { carrier: n, msisdn: '+243810000042' },
    })),
    claims: [{ table: 'idempotency', row: { ...anAnswer(key), body: poison ?? n } }],
    inserts:
      wanted.poison === 'unwritable'
        ? [{ table: 'payment', row: { ...aPayment(1), id: n, created_at: Number.NaN } }]
        : wanted.poison === 'check'
          ? [{ table: 'payment', row: { ...aPayment(1), id: n, fee_minor: -1n } }]
          : [],
    transfers: wanted.moves.map(({ from, to, amount }, at) =>
      aTransfer(`${n} ${at}`, account(from), account(to), amount),
    ),
    removals: wanted.forget === undefined ? [] : [{ table: 'idempotency', shard: 0, id: `key ${wanted.forget}` }],
  };
  return { n, change, guards, wish: wanted };
}

/** Runs each caller's wishes in sequence, all callers in parallel. Returns the winners in the order of their answers. */
async function runAll(callers: readonly (readonly Wish[])[], storeOf: (caller: number) => Store) {
  const winners: Decided[] = [];
  const outcomes = new Map<Decided, Outcome | Error>();
  await Promise.all(
    callers.map(async (wishes, caller) => {
      const store = storeOf(caller);
      for (const [turn, wanted] of wishes.entries()) {
        const decided = await decide(store, wanted, `${caller}.${turn}`);
        const outcome = await store.commit(decided.change).then(
          (found) => {
            if (found === 'won') winners.push(decided);
            return found;
          },
          (error: Error) => error,
        );
        outcomes.set(decided, outcome);
        // A read after the acknowledgement sees the change.
        const [guard] = decided.guards;
        if (outcome === 'won' && guard !== undefined) {
          const seen = await store.payment.get(0, guard.id);
          expect(seen?.version).toBeGreaterThan(guard.version);
        }
      }
    }),
  );
  return { winners, outcomes };
}

function checkFailures(outcomes: ReadonlyMap<Decided, Outcome | Error>): void {
  for (const [{ wish: wanted, change }, outcome] of outcomes) {
    if (wanted.poison !== 'none') expect(outcome).not.toBe('won');
    else expect(outcome, JSON.stringify(outcome)).toBeTypeOf('string');
    // A change without a competitor does not lose.
    const debits = change.transfers?.some(({ debit }) => debit.floored) ?? false;
    if (outcome === 'lost' && wanted.payments.length === 0 && !debits) {
      const names = ({ key, forget }: Wish): number[] => (forget === undefined ? [key] : [key, forget]);
      const own = names(wanted);
      const rivals = [...outcomes.keys()].filter(({ wish: other }) => names(other).some((name) => own.includes(name)));
      expect(rivals.length).toBeGreaterThan(1);
    }
  }
}

/** Applies the winners one after the other, as a ledger clerk would; each must be possible when its turn comes. */
function replay(winners: readonly Decided[]) {
  const payments = new Map(
    Array.from({ length: PAYMENTS }, (_, n) => [numbered('txn', n), { version: 1, carrier: null as string | null }]),
  );
  const keys = new Map<string, string>();
  const balances = new Map<string, bigint>();
  for (const { n, change, guards } of winners) {
    for (const { id, version } of guards) {
      expect(payments.get(id)?.version).toBe(version);
      payments.set(id, { version: version + 1, carrier: n });
    }
    for (const { id } of change.removals ?? []) keys.delete(id);
    for (const { row } of change.claims ?? []) {
      expect(keys.has(row.id)).toBe(false);
      keys.set(row.id, n);
    }
    for (const { debit, credit, amount_minor } of change.transfers ?? []) {
      balances.set(debit.id, (balances.get(debit.id) ?? 0n) - amount_minor);
      balances.set(credit.id, (balances.get(credit.id) ?? 0n) + amount_minor);
    }
    for (const [id, balance] of balances) if (id !== 'float') expect(balance).toBeGreaterThanOrEqual(0n);
  }
  return { payments, keys, balances };
}

async function readAll() {
  const payments = await client.query<{ id: string; version: number; carrier: string | null }>(
    'select id, version, carrier from payment',
  );
  const keys = await client.query<{ id: string; body: string }>('select id, body from idempotency');
  const balances = await client.query<{ id: string; balance: string }>('select id, balance from account');
  const lines = await client.query<{ id: string }>('select id from ledger_transfer');
  return {
    payments: new Map(payments.rows.map(({ id, version, carrier }) => [id, { version, carrier }])),
    keys: new Map(keys.rows.map(({ id, body }) => [id, body])),
    balances: new Map(balances.rows.map(({ id, balance }) => [id, BigInt(balance)])),
    lines: lines.rows.map(({ id }) => id).sort(),
  };
}

const linesOf = (winners: readonly Decided[]): string[] =>
  winners.flatMap(({ change }) => (change.transfers ?? []).map(({ id }) => id)).sort();

const callers = (most: number): fc.Arbitrary<Wish[][]> =>
  fc.array(fc.array(wish, { minLength: 8, maxLength: 12 }), { minLength: most, maxLength: most });

test('one committer: the winners, in the order of their answers, are a serial history of what is stored', async () => {
  await fc.assert(
    fc.asyncProperty(callers(40), async (all) => {
      await reset();
      const { winners, outcomes } = await runAll(all, () => stores[0]);
      checkFailures(outcomes);
      const { lines, ...stored } = await readAll();
      expect(stored).toEqual(replay(winners));
      expect(lines).toEqual(linesOf(winners));
      expect((await stores[0].auditAll()).findings).toEqual([]);
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

test('two committers: no version is used twice, no key is taken twice, and the books balance', async () => {
  await fc.assert(
    fc.asyncProperty(callers(30), async (all) => {
      await reset();
      const keyed = all.map((wishes) => wishes.map((wanted) => ({ ...wanted, forget: undefined })));
      const { winners, outcomes } = await runAll(keyed, (caller) => stores[caller % 2] ?? stores[0]);
      checkFailures(outcomes);
      const stored = await readAll();
      const used = winners.flatMap(({ guards }) => guards.map(({ id, version }) => `${id} ${version}`));
      expect(new Set(used).size).toBe(used.length);
      const versions = [...stored.payments.values()].reduce((sum, { version }) => sum + version, 0);
      expect(versions).toBe(PAYMENTS + used.length);
      expect(stored.keys.size).toBe(winners.length);
      expect(stored.lines).toEqual(linesOf(winners));
      for (const [id, balance] of stored.balances) if (id !== 'float') expect(balance).toBeGreaterThanOrEqual(0n);
      expect((await stores[1].auditAll()).findings).toEqual([]);
    }),
    { numRuns: 12, endOnFailure: true },
  );
});
