/**
 * Examples of sessions and payments.
 *
 * Invariant: they tell one story: an order of 45.90 dollars is paid by phone, and where another method is shown, the
 * same order is paid by that.
 */

import { say } from '../messages/messages.ts';
import { AT, type Example, HALF_AN_HOUR_LATER, LATER, NOTIFY_URL, PAYMENT, REFERENCE, TRANSACTION } from './example.ts';

const AMOUNT = { amount: '45.90', currency: 'usd' };

const PAID = {
  success: true,
  transaction_id: TRANSACTION,
  payment_id: PAYMENT,
  ...AMOUNT,
  fee_amount: '0.69',
  total_amount: '46.59',
  customer_reference: REFERENCE,
  summary_code: 'lok000',
  created_at: AT,
};

const STATUS = { transaction_id: TRANSACTION, status: 'approved', ...AMOUNT, created_at: AT, completed_at: LATER };

const COLLECT = {
  payment_method: 'mobile_money',
  user_info: 'full',
  payment_method_info: 'full',
  fee_covered_by: 'buyer',
  delivery_behaviour: 'direct_delivery',
  notify_url: NOTIFY_URL,
  first_name: 'Grace',
  last_name: 'Ilunga',
  email: 'grace@example.com',
  phone_number: '+243810000101',
};

const PAGE =
  'https://pay.example.com/api/v1/payments/collect-redirect?ticket=chk_01m7wd7tg0es6rj4ye4t7n3496.N-qraYFmJLy_EsjqB1pw7RPqlyXXddhIC3EEZG0h1iY';

const STARTED = { ...PAID, status: 'pending', message: say('en', 'status.pending') };
const WAITING = {
  ...PAID,
  status: 'pending_mobile_money_verification',
  message: say('en', 'status.pending_mobile_money_verification'),
};

/** What a masked phone number looks like in an answer. */
const MASKED = '+243 81 ••• •• 01';

const CARD_READ = {
  params: { transaction_id: TRANSACTION },
  answer: { ...STATUS, three_ds: { status: 'AUTHENTICATION_SUCCESSFUL', eci: '05', challenge_url: null } },
};

const ACCOUNT = {
  id: 'bka_01m7wd7tg1fgespxt2xb49k4q6',
  account_name: 'Boutique Kivu',
  account_number: '00011-05101-20260000421-77',
  iban: null,
  swift: 'OKPICDKI',
  currency: 'usd',
  branch_city: 'Goma',
};

const DETAIL = {
  success: true,
  kind: 'payment',
  ...STATUS,
  customer_reference: REFERENCE,
  payment_id: PAYMENT,
  payment_method: 'mobile_money',
  fee_amount: '0.69',
  total_amount: '46.59',
  fee_covered_by: 'buyer',
  delivery_behaviour: 'direct_delivery',
  message: say('en', 'status.approved'),
  refunded_amount: '0.00',
  late_payments: [],
  payment_methods: [
    {
      id: 'pm_01m7wd7tg0ekm8qk9wejf2xk96',
      name: 'mobile_money',
      display_name: say('en', 'method.mobile_money'),
      channel: 'mobile_money',
      icon_url: 'https://pay.example.com/checkout/methods/mobile_money.svg',
      fee_amount: '0.69',
      total_amount: '46.59',
      is_enabled: true,
      is_selected: true,
      configuration: { currency: 'usd', carriers: [{ carrier: 'Vodacom M-Pesa', country: 'CD' }] },
    },
  ],
  timeline: [
    { status: 'pending', at: AT, reason: null },
    { status: 'processing', at: '2026-11-20T12:00:04.120Z', reason: null },
    { status: 'pending_mobile_money_verification', at: '2026-11-20T12:00:04.655Z', reason: null },
    { status: 'approved', at: LATER, reason: null },
  ],
};

export const PAYMENT_EXAMPLES = {
  createSession: {
    body: { ...AMOUNT, customer_reference: REFERENCE, scope: 'collect' },
    answer: {
      success: true,
      session_id: 'ses_01m7wd7tg0extvzey89prp4fk6',
      status: 'ACTIVE',
      session_token: 'sess_01m7wd7tg0extvzey89prp4fk6E6Ac3DB2lofcuJQODyKuAtHW-Ym42_oscR3XnzyjmjA',
      issued_at: AT,
      expires_at: HALF_AN_HOUR_LATER,
      ...AMOUNT,
      customer_reference: REFERENCE,
      scope: 'collect',
      message: say('en', 'done.session_created'),
    },
  },
  collectPayment: { body: COLLECT, answer: STARTED },
  submitPayment: {
    body: {
      payment_id: PAYMENT,
      payment_method_id: 'mobile_money',
      mobile_money_phone_number: '+243810000101',
    },
    answer: WAITING,
  },
  verifyCode: {
    body: { payment_id: PAYMENT, otp_code: '976116' },
    answer: {
      ...PAID,
      status: 'approved',
      message: say('en', 'done.otp_verified'),
      debit_amount: '46.59',
      wallet_balance: '453.41',
      verified_at: LATER,
      completed_at: LATER,
    },
  },
  resendCode: {
    body: { payment_id: PAYMENT },
    answer: {
      ...PAID,
      status: 'pending_otp_verification',
      message: say('en', 'done.otp_sent', { sent_to: MASKED, minutes: 10 }),
      otp_sent_to: MASKED,
      resend_count: 1,
      max_resends: 3,
      resent_at: AT,
      expires_at: '2026-11-20T12:10:00.000Z',
    },
  },
  readStatus: { params: { transaction_id: TRANSACTION }, answer: STATUS },
  readTransaction: { params: { id: TRANSACTION }, answer: DETAIL },
  readMerchantTransaction: { params: { transaction_id: TRANSACTION }, answer: DETAIL },
  readMobileMoneyStatus: {
    params: { payment_id: PAYMENT },
    answer: {
      status_code: 200,
      message: say('en', 'status.approved'),
      data: {
        status: 'completed',
        progress: 100,
        message: say('en', 'status.approved'),
        payment_info: {
          carrier: 'Vodacom M-Pesa',
          phone_number: MASKED,
          ...AMOUNT,
          provider_reference: '1432560094',
          completed_at: LATER,
          reason: null,
        },
        provider_reference: '1432560094',
        estimated_completion: LATER,
      },
    },
  },
  collectRedirect: {
    body: {
      user_info: 'none',
      payment_method_info: 'none',
      fee_covered_by: 'buyer',
      delivery_behaviour: 'direct_delivery',
      notify_url: NOTIFY_URL,
      success_redirect_url: 'https://shop.example.com/thanks',
      fail_redirect_url: 'https://shop.example.com/cart',
    },
    answer: { ...STARTED, payment_url: PAGE, redirect_url: PAGE },
  },
  checkStatus: { params: { order_id: REFERENCE }, answer: { ...STATUS, upstream_status: 'CAPTURED' } },
  readCardStatus: CARD_READ,
  readMastercardStatus: CARD_READ,
  cardCallback: {
    body: {
      order_id: TRANSACTION,
      transaction_id: TRANSACTION,
      result: 'AUTHENTICATED',
      timestamp: 1_795_176_000,
      nonce: 'b1c9f0a2',
      signature: '5d0c1e7f4a3b92866f1d0e5c7b8a49302d1f6e7c8b9a0f1e2d3c4b5a69788706',
    },
    answer: STATUS,
  },
  readBanks: {
    answer: {
      success: true,
      banks: [{ id: 'banque-okapi', name: 'Banque Okapi', country: 'CD', accounts: [ACCOUNT] }],
    },
  },
  uploadProof: {
    body: { payment_id: PAYMENT, file: '@transfer.pdf' },
    answer: {
      ...PAID,
      status: 'processing',
      message: say('en', 'done.proof_received'),
      proof: {
        id: 'prf_01m7wd7tg1f1pa9fcb86yqacs6',
        status: 'waiting',
        content_type: 'application/pdf',
        size: 184_320,
        uploaded_at: LATER,
      },
    },
  },
  releaseDelivery: {
    params: { transaction_id: TRANSACTION },
    answer: {
      success: true,
      transaction_id: TRANSACTION,
      status: 'approved',
      ...AMOUNT,
      released_at: HALF_AN_HOUR_LATER,
      message: say('en', 'done.delivery_released'),
    },
  },
} satisfies { readonly [operationId: string]: Example };
