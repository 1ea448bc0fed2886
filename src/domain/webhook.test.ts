import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { statesOf, step } from './machine.ts';
import { paymentWith } from './testing/payments.ts';
import {
  afterReplay,
  afterTry,
  collectEvent,
  DELIVERY,
  DELIVERY_ROUND_MS,
  MAX_RETRY_AFTER_MS,
  RETRY_WAITS_MS,
  readRetryAfter,
  signsAt,
  type Try,
} from './webhook.ts';
import type { WebhookEvent } from './webhook-records.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const DAY = 86_400_000;
const newId = () => 'whd_test';

const PAYMENT = paymentWith({
  shard: 7,
  id: 'txn_one',
  version: 3,
  merchant_id: 'mch_one',
  session_id: 'ses_one',
  status: 'approved',
  method: 'wallet',
  amount: '12.5',
  amount_minor: 1250n,
  customer_reference: 'order "7"',
  total_minor: 1250n,
  notify_url: 'https://shop.example/hooks',
  msisdn: '+243810000042',
  events: 1,
  created_at: NOW - 5_000,
  submitted_at: NOW - 10,
  completed_at: NOW,
  expires_at: NOW + 60_000,
});

const answered = (status: number, retryAfter?: string): Try => ({
  at: NOW,
  durationMs: 40,
  status,
  retryAfter: readRetryAfter(retryAfter, NOW + 40),
  error: undefined,
});

function waitingEvent(attempts = 0): WebhookEvent {
  return { ...collectEvent(PAYMENT, 'evt_one', NOW), attempts, version: attempts + 1 };
}

function rowAfter(event: WebhookEvent, result: Try, jitter = 0) {
  const { update } = afterTry(event, result, jitter, newId);
  if (update.table !== 'webhook_event') throw new Error('a try updates its event');
  return update.row;
}

describe('the event of a collected payment', () => {
  it('has exactly the six fields of the specification, with the amount in the minted bytes', () => {
    const event = collectEvent(PAYMENT, 'evt_one', NOW);
    expect(event.body).toBe(
      '{"transaction_id":"txn_one","customer_reference":"order \\"7\\"","status":"approved","amount":"12.5",' +
        '"currency":"usd","completed_at":"2026-03-01T12:00:00.000Z"}',
    );
    expect(event).toMatchObject({ type: 'payment.approved', sequence: 1, status: 'waiting', next_at: NOW + 30_000 });
  });

  it('is kept without a target if no notify_url was given', () => {
    expect(collectEvent({ ...PAYMENT, notify_url: null }, 'evt_one', NOW).status).toBe('no_target');
  });

  it('is refused for a payment that is not final', () => {
    expect(() => collectEvent({ ...PAYMENT, completed_at: null }, 'evt_one', NOW)).toThrow('final');
  });
});

describe('a try', () => {
  it.each([200, 201, 204, 299])('is delivered by %i', (status) => {
    expect(rowAfter(waitingEvent(), answered(status))).toMatchObject({
      status: 'delivered',
      attempts: 1,
      delivered_at: NOW + 40,
      last_error: null,
    });
  });

  it.each([199, 300, 301, 302, 400, 401, 404, 409, 429, 500, 503])('is retried after %i', (status) => {
    expect(rowAfter(waitingEvent(), answered(status))).toMatchObject({
      status: 'waiting',
      next_at: NOW + 40 + 5_000,
      delivered_at: null,
      last_error: `http_${status}`,
    });
  });

  it('is retried if there was no answer, and says why', () => {
    const silent: Try = { at: NOW, durationMs: 10_000, status: undefined, retryAfter: undefined, error: 'timeout' };
    expect(rowAfter(waitingEvent(), silent)).toMatchObject({ status: 'waiting', last_error: 'timeout' });
  });

  it('stops at once at 410', () => {
    expect(rowAfter(waitingEvent(), answered(410))).toMatchObject({ status: 'gone', last_error: 'http_410' });
  });

  it('follows the schedule to its end and is then dead, after more than three days', () => {
    let event = waitingEvent();
    let elapsed = 0;
    const waits: number[] = [];
    while (event.status === 'waiting') {
      const row = rowAfter(event, answered(500));
      if (row.status === 'waiting') waits.push((row.next_at ?? 0) - NOW - 40);
      event = { ...event, ...row, version: event.version + 1 };
    }
    for (const wait of waits) elapsed += wait;
    expect(waits).toEqual(RETRY_WAITS_MS);
    expect(event).toMatchObject({ status: 'dead', attempts: 12 });
    expect(elapsed).toBeGreaterThan(3 * DAY);
  });

  it('is never due sooner than the schedule, nor later than a fifth more or the capped Retry-After', () => {
    const header = fc.oneof(
      fc.constant(undefined),
      fc.nat(200_000).map(String),
      fc.integer({ min: -DAY, max: 3 * DAY }).map((ms) => new Date(NOW + ms).toUTCString()),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.nat(RETRY_WAITS_MS.length - 1),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        header,
        (attempts, jitter, retryAfter) => {
          const wait = RETRY_WAITS_MS[attempts] ?? 0;
          const row = rowAfter(waitingEvent(attempts), answered(503, retryAfter), jitter);
          const real = (row.next_at ?? 0) - NOW - 40;
          expect(real).toBeGreaterThanOrEqual(wait);
          // The round finds it up to this much after it has become due.
          const found = real + DELIVERY_ROUND_MS;
          expect(found).toBeLessThanOrEqual(Math.max(wait * 1.2, MAX_RETRY_AFTER_MS + DELIVERY_ROUND_MS));
          if (readRetryAfter(retryAfter, NOW + 40) === undefined) expect(found).toBeLessThanOrEqual(wait * 1.2);
        },
      ),
    );
  });

  it('waits as long as Retry-After asks, in seconds or until a date', () => {
    expect(rowAfter(waitingEvent(), answered(503, '120')).next_at).toBe(NOW + 40 + 120_000);
    const date = new Date(NOW + 300_000).toUTCString();
    expect(rowAfter(waitingEvent(), answered(429, date)).next_at).toBe(NOW + 300_000);
    for (const obsolete of ['Sunday, 01-Mar-26 12:05:00 GMT', 'Sun Mar  1 12:05:00 2026']) {
      expect(rowAfter(waitingEvent(), answered(503, obsolete)).next_at).toBe(NOW + 300_000);
    }
    expect(rowAfter(waitingEvent(), answered(503, '1')).next_at).toBe(NOW + 40 + 5_000);
    for (const longer of ['9999999', '99999999999', '9'.repeat(400)]) {
      expect(rowAfter(waitingEvent(), answered(503, longer)).next_at).toBe(NOW + 40 + DAY);
    }
  });

  it('writes one line of history with the number of the try', () => {
    expect(afterTry(waitingEvent(4), answered(502), 0, newId).history.row).toMatchObject({
      event_id: 'evt_one',
      number: 5,
      status_code: 502,
      duration_ms: 40,
      error: 'http_502',
    });
  });
});

describe('Retry-After', () => {
  it.each(['', 'soon', '-1', '1.5', '1e3', 'Sun, 99 Foo 2026 99:99:99 GMT', '2026-03-01'])(
    '%j asks for nothing',
    (text) => {
      expect(readRetryAfter(text, NOW)).toBeUndefined();
    },
  );
});

describe('a replay', () => {
  it('makes any event due at once, except one without a target', () => {
    const outcomes = statesOf(DELIVERY).map((status) => {
      const replayed = afterReplay({ ...waitingEvent(3), status }, NOW);
      return [status, replayed?.update.row];
    });
    const due = { status: 'waiting', replayed_after: 3, next_at: NOW, delivered_at: null };
    expect(outcomes).toEqual([
      ['waiting', due],
      ['delivered', due],
      ['dead', due],
      ['gone', due],
      ['no_target', undefined],
    ]);
  });
});

describe('the tries after a replay', () => {
  it('are as many, and as far apart, as those of a new event', () => {
    let event = { ...waitingEvent(12), replayed_after: 12 };
    const waits: number[] = [];
    while (event.status === 'waiting') {
      const row = rowAfter(event, answered(500));
      if (row.status === 'waiting') waits.push((row.next_at ?? 0) - NOW - 40);
      event = { ...event, ...row, version: event.version + 1 };
    }
    expect(waits).toEqual(RETRY_WAITS_MS);
    expect(event).toMatchObject({ status: 'dead', attempts: 24 });
  });
});

describe('the delivery machine', () => {
  it('has this grid', () => {
    const grid = statesOf(DELIVERY).map((state) => {
      const cells = DELIVERY.facts.map((fact) => {
        const next = step(DELIVERY, state, fact);
        return `${fact}: ${next.kind === 'moved' ? next.to : next.kind}`;
      });
      return `${state} | ${cells.join(', ')}`;
    });
    expect(grid).toMatchInlineSnapshot(`
      [
        "waiting | accepted: delivered, failed: repeated, exhausted: dead, target_gone: gone, replayed: repeated",
        "delivered | accepted: conflict, failed: conflict, exhausted: conflict, target_gone: conflict, replayed: waiting",
        "dead | accepted: conflict, failed: conflict, exhausted: conflict, target_gone: conflict, replayed: waiting",
        "gone | accepted: conflict, failed: conflict, exhausted: conflict, target_gone: conflict, replayed: waiting",
        "no_target | accepted: conflict, failed: conflict, exhausted: conflict, target_gone: conflict, replayed: conflict",
      ]
    `);
  });
});

describe('signing secrets', () => {
  it.each([
    ['ALLOWED', null, true],
    ['RETIRING', NOW + 1, true],
    ['RETIRING', NOW, false],
    ['RETIRING', null, false],
    ['REVOKED', null, false],
    ['REVOKED', NOW + 1, false],
  ] as const)('%s until %s signs: %s', (status, retires_at, signs) => {
    expect(signsAt({ status, retires_at }, NOW)).toBe(signs);
  });
});
