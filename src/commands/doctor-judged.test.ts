/** Judgements of `mbongo doctor` that are tested with given numbers, because no test can bring the situation about. */
import { describe, expect, test } from 'vitest';
import type { DueKind } from '../store/due.ts';
import { type Check, spanOf } from './doctor-check.ts';
import { migrationCheck, replicationChecks, serverCheck, skewCheck, stalledCheck } from './doctor-database.ts';
import { checkNode, spaceCheck } from './doctor-machine.ts';
import { connectorCheck } from './doctor-upstreams.ts';
import { attemptsCheck, deadCheck, lateCheck, overdueCheck, waitingCheck } from './doctor-work.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('conditions that no test can bring about are judged by their numbers', () => {
  test.each([
    ['18.20.0', 'fail'],
    ['20.18.9', 'fail'],
    ['20.19.3', 'fail'],
    ['20.19.4', 'ok'],
    ['20.20.0', 'ok'],
    ['26.1.0', 'ok'],
  ])('Node.js %s: %s', (version, status) => {
    expect(checkNode(version).status).toBe(status);
  });

  test.each([
    [10 * 1_024 ** 3, 'ok'],
    [1_024 ** 3, 'warn'],
    [100 * 1_024 ** 2, 'fail'],
  ])('%i bytes free: %s', (free, status) => {
    expect(spaceCheck(free, '/data').status).toBe(status);
  });

  test('a clock that is off by more than a second fails, with the advice to run NTP', () => {
    expect(skewCheck(999).status).toBe('ok');
    expect(skewCheck(90_000)).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('90 s away from ours: run NTP'),
    });
  });

  test.each<[string[], Check['status'], string]>([
    [[], 'ok', 'PostgreSQL 18.4'],
    [['fsync', 'full_page_writes'], 'fail', 'fsync is off'],
    [['full_page_writes'], 'warn', 'set it to on, unless its storage'],
  ])('a database with %j off: %s', (off, status, detail) => {
    expect(serverCheck('PostgreSQL 18.4', 180_004, off)).toMatchObject({
      status,
      detail: expect.stringContaining(detail),
    });
  });

  test.each([
    [1, '1 commit waits'],
    [3, '3 commits wait'],
  ])('%i commits that wait for a synchronous standby fail', (stalled, detail) => {
    expect(stalledCheck(stalled)).toMatchObject({ status: 'fail', detail: expect.stringContaining(detail) });
  });

  test('a replication slot is a warning from 1 GiB of write-ahead log without a reader on, and from 10 GiB with one', () => {
    const GIB = 1_024 ** 3;
    const slots = [
      { name: 'gone', isActive: false, held: 3.5 * GIB },
      { name: 'slow', isActive: true, held: 12 * GIB },
      { name: 'restarting', isActive: false, held: 0.9 * GIB },
      { name: 'busy', isActive: true, held: 9 * GIB },
    ];
    expect(replicationChecks({ stalled: 0, slots })).toMatchObject([
      {
        status: 'warn',
        detail:
          'the slot gone has no reader, and 3.5 GiB of WAL is kept for it: bring its reader back, or drop the slot, before the disk is full',
      },
      {
        status: 'warn',
        detail:
          'the slot slow is far behind, and 12.0 GiB of WAL is kept for it: see what slows its reader down, before the disk is full',
      },
    ]);
  });

  test('a role that may not see what the replication holds up is a warning that names the grant', () => {
    expect(replicationChecks({ stalled: 0, slots: [] })).toEqual([]);
    expect(replicationChecks({ stalled: undefined, slots: undefined })).toMatchObject([
      {
        status: 'warn',
        detail: expect.stringContaining(': grant select on pg_stat_activity, pg_replication_slots to it'),
      },
    ]);
    expect(replicationChecks({ stalled: undefined, slots: [] })).toMatchObject([
      { status: 'warn', detail: expect.stringMatching(/: grant select on pg_stat_activity to it$/) },
    ]);
  });

  test('a database that a newer version has migrated is a warning', () => {
    expect(migrationCheck(['0001-a.sql'], ['0001-a.sql'])).toMatchObject({ status: 'ok' });
    const newer = migrationCheck(['0001-a.sql', '0002-b.sql'], ['0001-a.sql']);
    expect(newer).toMatchObject({ status: 'warn', detail: expect.stringContaining('0002-b.sql') });
    expect(newer.detail).toContain('upgrade this program too');
  });

  test.each<[number, Check['status']]>([
    [30_000, 'ok'],
    [2 * MINUTE, 'warn'],
    [HOUR, 'fail'],
  ])('work that has been due for %i ms: %s', (late, status) => {
    const check = overdueCheck({ overdue: [{ kind: 'webhook', since: NOW - late }] }, NOW);
    expect(check.status).toBe(status);
    if (status !== 'ok') expect(check.detail).toMatch(/webhooks for \d+ \w+; start a process/);
  });

  test('payouts, their dates and inquiries that wait for an upstream point to the upstream before more workers', () => {
    const since = NOW - 10 * MINUTE;
    const adviceOn = (...kinds: DueKind[]) =>
      overdueCheck({ overdue: kinds.map((kind) => ({ kind, since })) }, NOW).detail;
    expect(adviceOn('payout', 'payout_run', 'inquiry')).toMatch(
      /; first check whether an upstream that this work waits for is down.*if none is, start a process/,
    );
    expect(adviceOn('payout', 'webhook')).toMatch(/; start a process/);
  });

  test.each<[number, Check['status']]>([
    [2, 'ok'],
    [3, 'warn'],
    [4, 'fail'],
  ])('attempts of the age class %i: %s', (age, status) => {
    const about = { purpose: 'payment', connector: 'mtn-momo', carrier: 'MTN MoMo' } as const;
    const check = attemptsCheck({
      attempts: [
        { ...about, age, count: 7 },
        { ...about, age: 0, count: 1 },
      ],
    });
    expect(check.status).toBe(status);
    expect(check.detail).toContain(status === 'ok' ? '8, none older' : '7 are open');
  });

  test('payouts, refunds and tried webhooks that have waited for more than an hour are a warning', () => {
    const waiting = [
      { kind: 'payout', count: 3, oldest: NOW - 5 * HOUR },
      { kind: 'refund', count: 1, oldest: NOW - 61 * MINUTE },
      { kind: 'webhook_tried', count: 9, oldest: NOW - 49 * HOUR },
      { kind: 'webhook_new', count: 1, oldest: NOW - 9 * HOUR },
      { kind: 'webhook_late', count: 1, oldest: NOW - 9 * HOUR },
    ] as const;
    const { status, detail } = waitingCheck({ waiting }, NOW);
    expect(status).toBe('warn');
    expect(detail).toContain('payout lines: 3, the oldest for 5 h');
    expect(detail).toContain('refunds: 1, the oldest for 61 min');
    expect(detail).toContain('webhooks that receivers do not accept: 9, the oldest for 2 d');
    expect(waitingCheck({ waiting: [] }, NOW).status).toBe('ok');
  });

  test.each([
    [24, 'ok'],
    [25, 'warn'],
  ])('a refund that has waited for a person for %i hours: %s', (hours, status) => {
    const waiting = [{ kind: 'refund_by_hand', count: 1, oldest: NOW - hours * HOUR }] as const;
    const check = waitingCheck({ waiting }, NOW);
    expect(check.status).toBe(status);
    // It has waited for longer than anything else may.
    expect(check.detail).not.toContain('an hour');
  });

  test('late money is reported from its first second on', () => {
    const waiting = [{ kind: 'late_in', count: 2, oldest: NOW - 5 * MINUTE }] as const;
    const { status, detail } = lateCheck({ waiting }, NOW);
    expect(status).toBe('warn');
    expect(detail).toContain('money of 2 attempts came, or left, after their orders had ended');
    const one = lateCheck({ waiting: [{ ...waiting[0], count: 1 }] }, NOW);
    expect(one.detail).toContain('money of 1 attempt came, or left, after its order had ended');
    expect(detail).toMatch(/the oldest for 5 min: see mbongo suspense list, and .* mbongo attempt book$/);
    expect(waitingCheck({ waiting: [{ ...waiting[0], oldest: 0 }] }, NOW).status).toBe('ok');
    expect(lateCheck({ waiting: [] }, NOW).status).toBe('ok');
  });

  test('webhooks that were given up are a warning for ten days after they were made, then information', () => {
    expect(deadCheck({ count: 0, newest: null }, NOW)).toMatchObject({ status: 'ok', detail: 'none' });
    const { status, detail } = deadCheck({ count: 2, newest: NOW - 240 * HOUR }, NOW);
    expect(status).toBe('warn');
    expect(detail).toMatch(
      /^2 webhooks were given up, the newest made 10 d ago: see mbongo webhook list --status dead/,
    );
    expect(deadCheck({ count: 1, newest: NOW - 241 * HOUR }, NOW)).toMatchObject({
      status: 'ok',
      detail: '1 webhook was given up, the newest made 10 d ago',
    });
  });

  test.each<[Parameters<typeof connectorCheck>[2], Check['status'], string]>([
    [[{ kind: 'not_sent', reason: 'the name has no address' }], 'fail', 'the name has no address'],
    [[{ kind: 'answered', status: 401, headers: {}, body: '' }], 'fail', 'HTTP 401'],
    [[{ kind: 'answered', status: 503, headers: {}, body: '' }], 'warn', 'status page'],
  ])('a carrier in production that says %j: %s', (heard, status, word) => {
    const check = connectorCheck('mtn-momo', { kind: 'unknown', reason: 'odd' }, heard, 'production');
    expect(check.status).toBe(status);
    expect(check.detail).toContain(word);
  });

  test.each([
    [-5, '0 s'],
    [90_000, '90 s'],
    [5 * MINUTE, '5 min'],
    [3 * HOUR, '3 h'],
    [72 * HOUR, '3 d'],
  ])('%i ms are %s', (span, text) => {
    expect(spanOf(span)).toBe(text);
  });
});
