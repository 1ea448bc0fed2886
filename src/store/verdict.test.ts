/** What becomes of a batch's changes, for each way in which the attempt to commit them can end. */
import { describe, expect, test } from 'vitest';
import type { Change } from '../domain/change.ts';
import { keysOf, makeBatch } from './batch.ts';
import { CommitUnknown, ConnectionLost, LOST, Refused, StoreRefused, StoreUnavailable } from './errors.ts';
import { type Progress, verdictOn } from './verdict.ts';

const raising = (id: string) => {
  const change: Change = { updates: [{ table: 'session', shard: 3, id, version: 1, row: { payments: 1 } }] };
  return { change, keys: keysOf(change) };
};
const [first, second, third] = [raising('ses_a'), raising('ses_b'), raising('ses_c')];
const batch = makeBatch([first, second, third]);

const refused = (code: string, message = '', detail?: string) =>
  new Refused({ code, message, detail, constraint: undefined });
const lost = (kind: string, keys: readonly unknown[]) => refused(LOST, `lost ${kind}`, JSON.stringify(keys));

const NEW: Progress = { left: 3, resends: 0, waitedMs: 0 };
const verdict = (failure?: unknown, progress?: Partial<Progress>) =>
  verdictOn({ batch, failure }, { ...NEW, ...progress });

const NOT_SENT = new ConnectionLost({ sent: false, code: 'ECONNRESET' });
const SENT = new ConnectionLost({ sent: true, code: 'ECONNRESET' });
const COLLISIONS = ['40001', '40P01', '26000'].map((code) => refused(code));
const TROUBLES = ['25006', '53100', '55P03', '57014', '58030', 'XX000'].map((code) => refused(code));
/** Faults of one change: a constraint, a value that cannot be written, a column that its table does not have. */
const OWN = [refused('23514'), new Error('no column'), lost('session', ['3 ses_nobody']), refused(LOST, 'lost floor')];

test('a change that has not failed is committed', () => {
  expect(verdict()).toEqual({ kind: 'committed' });
});

describe('the changes that the database names have lost', () => {
  test('by their rows, and by their positions if a floor was reached', () => {
    expect(verdict(lost('session', ['3 ses_c', '3 ses_a', '3 ses_c']))).toEqual({
      kind: 'lost',
      losers: [third, first],
    });
    expect(verdict(lost('floor', [1]))).toEqual({ kind: 'lost', losers: [second] });
  });

  test('however many they are, and however long it took', () => {
    const all = lost('floor', [0, 1, 2]);
    expect(verdict(all, { resends: 9, waitedMs: 9_000 })).toEqual({ kind: 'lost', losers: [first, second, third] });
    expect(verdict(lost('floor', [0]), { left: 1 })).toEqual({ kind: 'lost', losers: [first] });
  });
});

describe('a batch that may succeed is sent again', () => {
  test.each([NOT_SENT, ...COLLISIONS])('after %s: once in any case, then five times within a second', (failure) => {
    const again = { kind: 'again' };
    expect(verdict(failure, { waitedMs: 60_000 })).toEqual(again);
    expect(verdict(failure, { resends: 4, waitedMs: 999 })).toEqual(again);
    expect(verdict(failure, { resends: 4, waitedMs: 1_000 })).not.toEqual(again);
    expect(verdict(failure, { resends: 5, waitedMs: 1 })).not.toEqual(again);
  });

  test('and in the end, a batch that never got through was not written', () => {
    expect(verdict(NOT_SENT, { resends: 5 })).toEqual({ kind: 'everybody', error: expect.any(StoreUnavailable) });
  });

  test('and in the end, one of the colliding changes is to blame', () => {
    for (const failure of COLLISIONS) {
      expect(verdict(failure, { resends: 5 })).toEqual({ kind: 'halve' });
      const alone = verdict(failure, { resends: 5, left: 1 });
      expect(alone).toEqual({ kind: 'everybody', error: expect.any(StoreUnavailable) });
    }
  });
});

describe('an outcome that no change is to blame for is reported to all', () => {
  test('as a doubt, if the batch was sent and not answered', () => {
    expect(verdict(SENT)).toEqual({ kind: 'everybody', error: expect.any(CommitUnknown) });
  });

  test.each(TROUBLES)('as not written, if the server is in trouble: %s', (failure) => {
    expect(verdict(failure)).toEqual({ kind: 'everybody', error: expect.any(StoreUnavailable) });
  });

  test('and beyond the batch, if there is no database', () => {
    const error = new StoreUnavailable();
    expect(verdict(error)).toEqual({ kind: 'unreachable', error });
    expect(verdict(error, { left: 1 })).toEqual({ kind: 'unreachable', error });
  });
});

describe('a fault of one change', () => {
  test.each(OWN)('is found by halving the batch: %s', (failure) => {
    expect(verdict(failure)).toEqual({ kind: 'halve' });
    expect(verdict(failure, { left: 2 })).toEqual({ kind: 'halve' });
  });

  test('is reported to it alone', () => {
    expect(verdict(refused('23514'), { left: 1 })).toEqual({ kind: 'everybody', error: expect.any(StoreRefused) });
  });

  test('is found even if the batch could not be built', () => {
    const failure = new Error('table session has no column nope');
    expect(verdictOn({ failure }, NEW)).toEqual({ kind: 'halve' });
    expect(verdictOn({ failure }, { ...NEW, left: 1 })).toEqual({ kind: 'everybody', error: failure });
  });
});
