/**
 * Examples of what a merchant's backend does with its money: payouts, refunds, books and webhook events.
 *
 * Invariant: sums are right: lines add up to totals, and openings with their lines to closings.
 */

import { say } from '../messages/messages.ts';
import { AT, BATCH, EVENT, type Example, LATER, NOTIFY_URL, REFERENCE, REFUND, TRANSACTION } from './example.ts';

const LINES = [
  { phone_number: '+243810001250', amount: '20.00', transaction_id: 'txn_01m7wd7tg1fvashhmde71vwhd6' },
  { phone_number: '+243810001302', amount: '35.50', transaction_id: 'txn_01m7wd7tg1e9pvk94k7arbbv76' },
] as const;

const ORDER = {
  customer_reference: 'salaries-11',
  currency: 'usd',
  receipt_mode: 'mobile_money',
  sending_type: 'immediate',
  total_amount: '55.50',
  total_fee: '0.00',
  occurrences: 1,
  next_run_at: null,
  approval: 'none',
};

const SENT_COUNTS = { successful_count: 0, failed_count: 0, pending_count: 2 };
const BATCH_SENT = {
  batch_id: BATCH,
  ...ORDER,
  ...SENT_COUNTS,
  status: 'pending',
  retry_of: null,
  created_at: AT,
  completed_at: null,
};
const ENDED_COUNTS = { successful_count: 1, failed_count: 1, pending_count: 0 };
const BATCH_ENDED = { ...BATCH_SENT, ...ENDED_COUNTS, status: 'partial_success', completed_at: LATER };

const PENDING = { currency: 'usd', status: 'pending', message: say('en', 'payout.pending'), fee_amount: '0.00' };
const ARRIVED = { ...PENDING, status: 'completed', message: say('en', 'payout.completed') };
const BOUNCED = {
  ...PENDING,
  status: 'failed',
  message: say('en', 'payout.failed', { reason: say('en', 'reason.payee_unknown') }),
};

const SEND = {
  body: {
    customer_reference: 'salaries-11',
    currency: 'usd',
    receipt_mode: 'mobile_money',
    notify_url: NOTIFY_URL,
    beneficiaries: LINES.map(({ phone_number, amount }) => ({ phone_number, amount })),
  },
  answer: {
    success: true,
    dry_run: false,
    ...BATCH_SENT,
    beneficiaries: LINES.map((line) => ({ ...line, ...PENDING })),
    message: say('en', 'done.payout_accepted'),
    summary_code: 'lok000',
  },
};

const REFUNDED = {
  refund_id: REFUND,
  transaction_id: TRANSACTION,
  status: 'processing',
  message: say('en', 'refund.processing'),
  amount: '5.00',
  currency: 'usd',
  method: 'mobile_money',
  by_hand: false,
  reason: 'one item was missing',
  failure: null,
  taken_after_all: false,
  refunded_amount: '0.00',
  provider_reference: null,
  created_at: AT,
  completed_at: null,
};

const EVENT_DELIVERED = {
  event_id: EVENT,
  type: 'payment.approved',
  transaction_id: TRANSACTION,
  sequence: 1,
  url: NOTIFY_URL,
  status: 'delivered',
  attempts: 1,
  next_at: null,
  created_at: LATER,
  delivered_at: '2026-11-20T12:00:09.470Z',
  last_error: null,
};

/** The body of a payment's webhook: the six fields. */
export const WEBHOOK_BODY = {
  transaction_id: TRANSACTION,
  customer_reference: REFERENCE,
  status: 'approved',
  amount: '45.90',
  currency: 'usd',
  completed_at: LATER,
};

/** The body of a payout line's webhook. */
export const PAYOUT_WEBHOOK_BODY = {
  event: 'payout.completed',
  batch_id: BATCH,
  transaction_id: LINES[0].transaction_id,
  customer_reference: 'salaries-11',
  status: 'completed',
  amount: '20.00',
  fee_amount: '0.00',
  currency: 'usd',
  receipt_mode: 'mobile_money',
  phone_number: LINES[0].phone_number,
  occurrence: 1,
  scheduled_date: null,
  created_at: AT,
  completed_at: LATER,
  message: say('en', 'payout.completed'),
};

const OPENING = { opening_balance: '500.00', closing_balance: '545.90' };
const SPAN = { ...OPENING, balances: [{ balance: 'available', ...OPENING }] };

export const MONEY_EXAMPLES = {
  sendPayout: SEND,
  createPayout: SEND,
  retryPayout: {
    params: { batch_id: BATCH },
    body: {},
    answer: {
      ...SEND.answer,
      batch_id: 'batch_01m7wd7vf9es8seevg62v8jxb6',
      retry_of: BATCH,
      total_amount: '35.50',
      pending_count: 1,
      beneficiaries: [{ ...LINES[1], ...PENDING, transaction_id: 'txn_01m7wd7vf9fsebyjfmbdjn2vq6' }],
    },
  },
  listPayouts: {
    query: { status: 'partial_success', limit: '20' },
    answer: { success: true, payouts: [BATCH_ENDED], next_cursor: null },
  },
  readPayout: {
    params: { batch_id: BATCH },
    answer: {
      success: true,
      ...BATCH_ENDED,
      note: null,
      frequency: null,
      dates: null,
      paused_at: null,
      cancelled_at: null,
      runs: [{ occurrence: 1, scheduled_date: null, ...ENDED_COUNTS, status: 'partial_success', completed_at: LATER }],
      occurrence: 1,
      beneficiaries: [
        { ...LINES[0], ...ARRIVED, reason: null, taken_after_all: false },
        { ...LINES[1], ...BOUNCED, reason: 'payee_unknown', taken_after_all: false },
      ],
    },
  },
  createRefund: {
    body: { transaction_id: TRANSACTION, amount: '5.00', reason: 'one item was missing' },
    answer: { success: true, summary_code: 'lok000', ...REFUNDED },
  },
  listRefunds: {
    query: { status: 'failed', from: '2026-11-20', limit: '20' },
    answer: {
      success: true,
      refunds: [
        {
          ...REFUNDED,
          status: 'failed',
          message: say('en', 'refund.failed', { reason: say('en', 'reason.payee_unknown') }),
          failure: { code: 'payee_unknown', message: say('en', 'reason.payee_unknown') },
          completed_at: LATER,
        },
      ],
      next_cursor: null,
    },
  },
  readRefund: {
    params: { id: REFUND },
    answer: {
      success: true,
      summary_code: 'lok000',
      ...REFUNDED,
      status: 'completed',
      message: say('en', 'refund.completed'),
      refunded_amount: '5.00',
      provider_reference: '1432560131',
      completed_at: LATER,
    },
  },
  readBalances: {
    answer: { success: true, balances: [{ currency: 'usd', available: '545.90', reserved: '0.00', held: '12.50' }] },
  },
  readStatement: {
    query: { currency: 'usd', from: '2026-11-20', to: '2026-11-20', balance: 'available' },
    answer: {
      success: true,
      currency: 'usd',
      from: '2026-11-20T00:00:00.000Z',
      to: '2026-11-20T23:59:59.999Z',
      ...SPAN,
      page: SPAN,
      lines: [
        {
          id: 'trf_01m7wd7tg0ewav98bjx6h2d4q6:available',
          at: LATER,
          balance: 'available',
          cause: 'payment',
          amount: '45.90',
          balance_after: '545.90',
          transaction_id: TRANSACTION,
          refund_id: null,
          customer_reference: REFERENCE,
          reference: null,
        },
      ],
      next_cursor: null,
    },
  },
  listTransactions: {
    query: { status: 'approved', from: '2026-11-20', limit: '20' },
    answer: {
      success: true,
      transactions: [
        {
          transaction_id: TRANSACTION,
          status: 'approved',
          amount: '45.90',
          currency: 'usd',
          created_at: AT,
          completed_at: LATER,
          customer_reference: REFERENCE,
          payment_method: 'mobile_money',
          fee_amount: '0.69',
          total_amount: '46.59',
          refunded_amount: '0.00',
        },
      ],
      next_cursor: null,
    },
  },
  listEvents: {
    query: { status: 'dead', from: '2026-11-20', limit: '20' },
    answer: {
      success: true,
      events: [{ ...EVENT_DELIVERED, status: 'dead', attempts: 12, delivered_at: null, last_error: 'http_500' }],
      next_cursor: null,
    },
  },
  readEvent: {
    params: { id: EVENT },
    answer: {
      success: true,
      ...EVENT_DELIVERED,
      body: WEBHOOK_BODY,
      tries: [
        { id: 'whd_01m7wd7xdrfn6rtkad9n6mtkae', number: 1, at: LATER, status_code: 200, duration_ms: 58, error: null },
      ],
    },
  },
  replayEvent: {
    params: { id: EVENT },
    answer: {
      success: true,
      ...EVENT_DELIVERED,
      status: 'waiting',
      next_at: '2026-11-20T12:01:00.000Z',
      delivered_at: null,
    },
  },
  replayEvents: {
    body: { from: '2026-11-20', to: '2026-11-21', status: 'dead' },
    answer: { success: true, replayed: 6, to: '2026-11-21T23:59:59.999Z', next_cursor: null },
  },
  readAvailability: {
    query: { currency: 'usd' },
    answer: {
      success: true,
      checked_at: AT,
      services: [
        {
          use: 'payment',
          method: 'mobile_money',
          currency: 'usd',
          carrier: 'Vodacom M-Pesa',
          country: 'CD',
          status: 'operational',
        },
        { use: 'payment', method: 'wallet', currency: 'usd', carrier: null, country: null, status: 'operational' },
      ],
    },
  },
} satisfies { readonly [operationId: string]: Example };
