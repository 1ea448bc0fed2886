import { expect, test } from 'vitest';
import type { CardConnector, CardOrderStatus } from '../connectors/connector.ts';
import type { InquiryAnswer } from '../domain/answer.ts';
import type { Alarm } from '../domain/attempt-settlement.ts';
import { LATE_GIVEN_BACK } from '../domain/reason.ts';
import type { Attempt } from '../domain/records.ts';
import { attemptWith } from '../domain/testing/attempts.ts';
import { paymentWith } from '../domain/testing/payments.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { askEarlier, askEarlierInSession } from './card-earlier.ts';
import type { Deps } from './deps.ts';

const KEYS = { shard: 1, merchant_id: 'mch_1', payment_id: 'txn_1' };
const tried = (id: string, more: Partial<Attempt> = {}): Attempt =>
  attemptWith({ ...KEYS, id, method: 'card', connector: 'mastercard', status: 'not_sent', ...more });
const newest = tried('att_9', { status: 'intended' });
const payment = paymentWith({ shard: 1, id: 'txn_1', merchant_id: 'mch_1', session_id: 'ses_1', version: 2 });

/** A network that answers so about the order, and every inquiry about an attempt with that. */
function facing(order: CardOrderStatus | undefined, attempts: readonly Attempt[], said: InquiryAnswer) {
  const alarms: Alarm[] = [];
  const clock = manualClock(0);
  const card = { orderStatus: async () => order } as unknown as CardConnector;
  const deps = {
    clock,
    log: memoryLog(clock),
    alarmed: (alarm: Alarm) => void alarms.push(alarm),
    connectors: { upstream: () => ({ inquire: async () => said }) },
    store: { attempt: { ofCardPayment: async () => attempts }, commit: async () => 'won' },
  } as unknown as Deps;
  return {
    alarms,
    asked: async () => (await askEarlier(deps, card, newest)).kind,
    askedInSession: () => askEarlierInSession(deps, card, [payment]),
  };
}

const NOT_FOUND = { kind: 'not_found' } as const;
const CAPTURED = { word: 'CAPTURED', isTaken: true };
const UNKNOWN_ORDER = { word: null, isTaken: false };

test('an order that none of our attempts has paid is not paid again, and a person is called', async () => {
  const { asked, alarms } = facing(CAPTURED, [tried('att_1'), newest], NOT_FOUND);
  expect([await asked(), alarms]).toEqual(['unclear', ['contradiction']]);
});

test('but what was given back is no payment any more, although the order still says that it was taken', async () => {
  const given = tried('att_1', { status: 'approved', reason: LATE_GIVEN_BACK });
  const { asked, alarms } = facing(CAPTURED, [given, tried('att_2'), newest], NOT_FOUND);
  expect([await asked(), alarms]).toEqual(['none', []]);
});

test('an order that the network does not know has taken nothing, unless it has just been told of it', async () => {
  const { asked, askedInSession } = facing(UNKNOWN_ORDER, [tried('att_1')], NOT_FOUND);
  expect([await asked(), await askedInSession()]).toEqual(['unclear', 'none']);
});

test('without an answer about the order or an attempt it stays unclear', async () => {
  const open = { word: 'AUTHENTICATED', isTaken: false };
  for (const [order, said] of [
    [undefined, NOT_FOUND],
    [open, { kind: 'unknown', reason: 'no answer' }],
    [open, { kind: 'waiting', providerReference: null }],
  ] as const) {
    const { asked, askedInSession } = facing(order, [tried('att_1')], said);
    expect([await asked(), await askedInSession()]).toEqual(['unclear', 'unclear']);
  }
});
