/**
 * The shapes of requests and answers: JSON Schema, from which validation and the OpenAPI document both come.
 *
 * Invariant: unknown fields are ignored, never refused (contract, top). What depends on the chosen method is checked
 * by the route, because no schema says it as clearly.
 */

import { type Static, Type } from 'typebox';

const Reference = Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the order.' });
const Amount = Type.String({ maxLength: 64, description: 'A decimal string such as `12.50`; never a JSON number.' });
const CurrencyCode = Type.String({ maxLength: 16, description: 'A lower-case ISO 4217 code, for example `usd`.' });
const Url = Type.String({ maxLength: 2048 });
const Name = Type.String({ maxLength: 200 });
const Detail = Type.Union([Type.Literal('none'), Type.Literal('full'), Type.Literal('partial')]);
const Pin = Type.String({ pattern: '^[0-9]{4,8}$', description: 'Four to eight digits. Never logged, never stored.' });
const PaymentIdIn = Type.String({
  minLength: 10,
  description: 'The opaque `payment_id` from the collect answer, whole.',
});

export const SessionBody = Type.Object({
  amount: Amount,
  currency: CurrencyCode,
  customer_reference: Reference,
  ttl_seconds: Type.Optional(Type.Integer({ description: 'Life of the session in seconds; 1800 when absent.' })),
  scope: Type.Optional(
    Type.Union([Type.Literal('collect'), Type.Literal('payout')], { description: 'What it may do; absent: both.' }),
  ),
});
export type SessionBody = Static<typeof SessionBody>;

const MethodName = Type.Union(
  (['wallet', 'mobile_money', 'card', 'flash', 'bank_transfer', 'google_pay', 'apple_pay', 'none'] as const).map(
    (name) => Type.Literal(name),
  ),
  { description: '`none`: the customer chooses at submit.' },
);

export const CollectBody = Type.Object({
  payment_method: MethodName,
  user_info: Detail,
  payment_method_info: Detail,
  fee_covered_by: Type.Union([Type.Literal('buyer'), Type.Literal('merchant')]),
  delivery_behaviour: Type.Union([Type.Literal('direct_delivery'), Type.Literal('delayed_delivery')]),
  notify_url: Type.Optional(Url),
  success_redirect_url: Type.Optional(Url),
  fail_redirect_url: Type.Optional(Url),
  first_name: Type.Optional(Name),
  last_name: Type.Optional(Name),
  email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
  phone_number: Type.Optional(Type.String({ maxLength: 64 })),
  wallet_number: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  wallet_pin: Type.Optional(Pin),
  cardnet_payment_method: Type.Optional(Type.String({ maxLength: 64 })),
  mastercard_payment_method: Type.Optional(Type.String({ maxLength: 64 })),
  transactional_currency: Type.Optional(CurrencyCode),
  native_pay_token: Type.Optional(Type.String({ maxLength: 65_536 })),
  native_pay_token_type: Type.Optional(Type.String({ maxLength: 64 })),
  amount: Type.Optional(Amount),
  currency: Type.Optional(CurrencyCode),
  customer_reference: Type.Optional(Type.String({ maxLength: 255 })),
});
export type CollectBody = Static<typeof CollectBody>;

export const SubmitBody = Type.Object({
  payment_id: PaymentIdIn,
  payment_method_id: Type.String({ minLength: 1, maxLength: 64 }),
  ewallet_number: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  ewallet_pin: Type.Optional(Pin),
  flash_number: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  flash_pin: Type.Optional(Pin),
  mobile_money_phone_number: Type.Optional(Type.String({ maxLength: 64 })),
  cardnet_payment_method: Type.Optional(Type.String({ maxLength: 64 })),
  mastercard_payment_method: Type.Optional(Type.String({ maxLength: 64 })),
  session_id: Type.Optional(Type.String({ maxLength: 256 })),
  bank_account_id: Type.Optional(Type.String({ maxLength: 64 })),
});
export type SubmitBody = Static<typeof SubmitBody>;

export const VerifyBody = Type.Object({
  payment_id: PaymentIdIn,
  otp_code: Type.String({ pattern: '^[0-9]{6}$', description: 'Six digits.' }),
});
export type VerifyBody = Static<typeof VerifyBody>;

export const ResendBody = Type.Object({ payment_id: PaymentIdIn });
export type ResendBody = Static<typeof ResendBody>;

export const TransactionParams = Type.Object({ transaction_id: Type.String({ maxLength: 512 }) });
export const IdParams = Type.Object({ id: Type.String({ maxLength: 512 }) });
export const PaymentIdParams = Type.Object({ payment_id: PaymentIdIn });

const Text = Type.String();
const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds.' });
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Status = Type.String({
  description:
    'pending, processing, pending_otp_verification, pending_mobile_money_verification, approved, declined, failed, cancelled, expired or refunded.',
});

export const SessionAnswer = Type.Object({
  success: Type.Boolean(),
  session_id: Text,
  session_token: Type.String({ description: 'The bearer value of the client; shown this once.' }),
  issued_at: Timestamp,
  expires_at: Timestamp,
  amount: Text,
  currency: Text,
  customer_reference: Text,
  scope: Nullable(Text),
  message: Text,
});

const PAYMENT_FIELDS = {
  success: Type.Boolean(),
  transaction_id: Text,
  payment_id: Text,
  status: Status,
  message: Text,
  amount: Type.String({ description: 'The bound amount, byte for byte.' }),
  currency: Text,
  fee_amount: Text,
  total_amount: Type.String({ description: 'The amount, plus the fee when the buyer covers it.' }),
  customer_reference: Text,
  summary_code: Text,
  created_at: Timestamp,
};

export const PaymentAnswer = Type.Object(PAYMENT_FIELDS);

export const VerifiedAnswer = Type.Object({
  ...PAYMENT_FIELDS,
  debit_amount: Text,
  wallet_balance: Text,
  verified_at: Timestamp,
  completed_at: Timestamp,
});

export const ResentAnswer = Type.Object({
  ...PAYMENT_FIELDS,
  otp_sent_to: Type.String({ description: 'Masked.' }),
  resend_count: Type.Integer(),
  max_resends: Type.Integer(),
  resent_at: Timestamp,
  expires_at: Timestamp,
});

export const StatusAnswer = Type.Object({
  transaction_id: Text,
  status: Status,
  amount: Text,
  currency: Text,
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
});

export const DetailAnswer = Type.Object({
  success: Type.Boolean(),
  transaction_id: Text,
  status: Status,
  amount: Text,
  currency: Text,
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
  customer_reference: Text,
  payment_id: Text,
  payment_method: Text,
  fee_amount: Text,
  total_amount: Text,
  fee_covered_by: Text,
  delivery_behaviour: Text,
  message: Text,
  refunded_amount: Text,
  payment_methods: Type.Array(
    Type.Object({
      id: Text,
      name: Text,
      display_name: Text,
      channel: Text,
      icon_url: Nullable(Text),
      is_enabled: Type.Boolean(),
      is_selected: Type.Boolean(),
      configuration: Type.Object({ currency: Text }),
    }),
  ),
  timeline: Type.Array(Type.Object({ status: Status, at: Timestamp, reason: Nullable(Text) })),
});

export const MobileMoneyAnswer = Type.Object({
  status_code: Type.Integer(),
  message: Text,
  data: Type.Object({
    status: Type.String({ description: 'pending, processing, completed, failed or cancelled.' }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Approximate.' }),
    message: Text,
    payment_info: Nullable(
      Type.Object({
        carrier: Nullable(Text),
        phone_number: Nullable(Text),
        amount: Text,
        currency: Text,
        provider_reference: Nullable(Text),
        completed_at: Nullable(Timestamp),
        reason: Nullable(Text),
      }),
    ),
    provider_reference: Nullable(Text),
    estimated_completion: Timestamp,
  }),
});
