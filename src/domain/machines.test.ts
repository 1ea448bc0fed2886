import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ATTEMPT } from './attempt.ts';
import { gridOf, type Machine, StateConflict, statesOf, step } from './machine.ts';
import { factOfDecline, isFinal, movePayment, PAYMENT } from './payment.ts';
import { PAYOUT } from './payout.ts';
import { decideProof, PROOF } from './proof.ts';
import { DECLINE_STATUS, type DeclineReason } from './reason.ts';
import { REFUND } from './refund.ts';
import { consume, SESSION, updateSession } from './session.ts';
import { paymentWith, sessionWith } from './testing/payments.ts';
import type { Proof } from './transfer-records.ts';
import { DELIVERY } from './webhook.ts';

const machines: readonly Machine<string, string>[] = [SESSION, PAYMENT, ATTEMPT, PAYOUT, REFUND, PROOF, DELIVERY];

describe.each(machines.map((machine) => [machine.name, machine] as const))('%s', (_name, machine) => {
  test('its whole grid is as it was', () => {
    expect(gridOf(machine)).toMatchSnapshot();
  });

  test('every state can be reached', () => {
    const seen = new Set([machine.initial]);
    for (const state of seen) {
      for (const fact of machine.facts) {
        const next = step(machine, state, fact);
        if (next.kind === 'moved') seen.add(next.to);
      }
    }
    const promised = statesOf(machine).filter((state) => !NO_WAY_IN.has(`${machine.name}:${state}`));
    expect([...seen].sort()).toEqual(promised.sort());
  });
});

const schema = readFileSync(new URL('../store/schema.sql', import.meta.url), 'utf8');

/** States that are never written: a session's end is derived from the time. */
const NEVER_WRITTEN = new Set(['session:expired']);

test.each(machines.map((machine) => [machine.name, machine] as const))(
  'the database knows the states of %s and no others',
  (name, machine) => {
    const checks = schema.match(new RegExp(`constraint ${name}_status_check CHECK .*`, 'g')) ?? [];
    expect(checks.length).toBeGreaterThan(0);
    const written = statesOf(machine).filter((state) => !NEVER_WRITTEN.has(`${name}:${state}`));
    for (const check of checks) {
      const known = [...check.matchAll(/'([A-Za-z_]+)'::text/g)].map(([, state]) => state);
      expect(known.sort()).toEqual(written.sort());
    }
  },
);

/** States that no fact leads to: an event without a target is created in that state. */
const NO_WAY_IN = new Set(['webhook_event:no_target']);

const payment = paymentWith({
  shard: 1,
  id: 'txn_01',
  version: 3,
  merchant_id: 'mch_01',
  session_id: 'ses_01',
  method: 'wallet',
  amount: '1.00',
  amount_minor: 100n,
  customer_reference: 'order',
  total_minor: 100n,
  notify_url: null,
  expires_at: 9,
});

test('a move writes status, time and timeline together', () => {
  const moved = movePayment(payment, 'account_debited', null, 5);
  expect(moved?.payment).toMatchObject({ status: 'approved', completed_at: 5, events: 1, version: 4 });
  expect(moved?.update).toMatchObject({ version: 3, row: { status: 'approved', completed_at: 5 } });
  expect(moved?.history).toEqual({
    table: 'payment_history',
    row: { shard: 1, payment_id: 'txn_01', version: 4, status: 'approved', reason: null, at: 5 },
  });
});

test('all moves of a payment by phone write the same columns, so that those of a batch are one statement', () => {
  const upstream = { method: payment.method, msisdn: '+243810000042', carrier: 'a carrier', provider_reference: null };
  const processing = { ...payment, status: 'processing' as const };
  const moves = [
    movePayment(payment, 'attempt_intended', null, 5, { attempt_id: 'att_01', submitted_at: 5 }),
    movePayment(processing, 'upstream_accepted', null, 5, { ...upstream, fee_minor: 1n, total_minor: 101n }),
    movePayment(processing, 'upstream_confirmed', null, 5, upstream),
    movePayment(processing, 'customer_rejected', 'customer_rejected', 5),
    movePayment(payment, 'session_expired', null, 5),
  ];
  const columns = moves.map((moved) => Object.keys(moved?.update.row ?? {}).toSorted());
  expect(columns).toEqual(moves.map(() => columns[0]));
  expect(moves[0]?.update.row).toMatchObject({ method: 'wallet', msisdn: null, events: 0, attempt_id: 'att_01' });
});

test('all steps of a session write the same columns', () => {
  const session = sessionWith({ shard: 1, id: 'ses_01', merchant_id: 'mch_01' });
  const steps = [{ payments: 2 }, { submitting_payment_id: 'txn_01' }, { status: 'CONSUMED' as const }];
  for (const step of steps) {
    const { payments, submitting_payment_id, status } = session;
    expect(updateSession(session, step).row).toEqual({ payments, submitting_payment_id, status, ...step });
  }
});

test('a session is consumed once', () => {
  const session = sessionWith({ shard: 1, id: 'ses_01', merchant_id: 'mch_01' });
  expect(consume(session, 'txn_01').row).toEqual({ payments: 1, submitting_payment_id: 'txn_01', status: 'CONSUMED' });
  expect(() => consume({ ...session, status: 'CONSUMED' }, 'txn_02')).toThrow(StateConflict);
});

test('a proof is decided once', () => {
  const decide = (status: Proof['status']) =>
    decideProof(
      { shard: 1, id: 'prf_01', version: 1, status } as Proof,
      { ...payment, method: 'bank_transfer', status: 'processing' },
      { verdict: 'declined', note: null },
      { ids: { event: 'evt_01', transfers: ['trf_01', 'trf_02'] }, now: 5 },
    );
  expect(decide('waiting').proof).toMatchObject({ status: 'declined', decided_at: 5, version: 2 });
  expect(() => decide('declined')).toThrow(StateConflict);
  expect(() => decide('approved')).toThrow(StateConflict);
});

test('a final payment is not moved by anything that arrives late', () => {
  for (const status of PAYMENT.final) {
    for (const fact of PAYMENT.facts) {
      if (status === 'approved' && fact === 'refunded_in_full') continue;
      const late = { ...payment, status, completed_at: 2 };
      let moved: unknown;
      try {
        moved = movePayment(late, fact, null, 5);
      } catch (error) {
        expect(error).toBeInstanceOf(StateConflict);
      }
      expect(moved).toBeUndefined();
    }
  }
});

test('every decline leads from a payment in progress to the status that it names', () => {
  for (const reason of Object.keys(DECLINE_STATUS) as DeclineReason[]) {
    const waiting = { ...payment, status: 'processing' as const };
    expect(movePayment(waiting, factOfDecline(reason), reason, 5)?.payment.status).toBe(DECLINE_STATUS[reason]);
    expect(isFinal(DECLINE_STATUS[reason])).toBe(true);
  }
});
