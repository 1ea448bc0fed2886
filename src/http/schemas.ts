/**
 * Schemas of requests and answers: JSON Schema, from which validation and the OpenAPI document both come.
 *
 * Invariant: unknown fields are ignored, never refused (contract, top). What depends on the chosen method is checked
 * by the route, because no schema says it as clearly.
 */

import { type Static, Type } from 'typebox';
import type { UploadedFile } from './multipart.ts';
import {
  BoundAmount,
  CurrencyCode,
  MethodName,
  nullable,
  PathId,
  Text,
  Timestamp,
  TotalAmount,
} from './schema-words.ts';

const Reference = Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the order.' });
const Amount = Type.String({
  maxLength: 64,
  description:
    'A decimal string such as `12.50`, with at most 15 digits before the point and no more decimals than the currency has; never a JSON number.',
});
const Url = Type.String({ maxLength: 2048 });
const Name = Type.String({ maxLength: 200 });
const WalletNumber = Type.String({ maxLength: 64 });
const PhoneNumber = Type.String({ maxLength: 64 });
const CardnetMethod = Type.String({ maxLength: 64 });
const Detail = Type.Union([Type.Literal('none'), Type.Literal('full'), Type.Literal('partial')]);
/** An empty one counts as missing, like every field that a method needs. */
const Pin = Type.String({
  pattern: '^([0-9]{4,8})?$',
  description: 'Four to eight digits. Never logged, never stored.',
});
const PaymentIdIn = Type.String({
  minLength: 10,
  description: 'The opaque `payment_id` from the collect answer, whole.',
});

export const SessionBody = Type.Object({
  amount: Amount,
  currency: CurrencyCode,
  customer_reference: Reference,
  ttl_seconds: Type.Optional(
    Type.Integer({
      description: 'Life of the session in seconds, 1 to 86400, in production 60 at least; 1800 when absent.',
    }),
  ),
  scope: Type.Optional(
    Type.Union([Type.Literal('collect'), Type.Literal('payout')], { description: 'What it may do; absent: both.' }),
  ),
});
export type SessionBody = Static<typeof SessionBody>;

export const CollectBody = Type.Object({
  payment_method: Type.Union(MethodName.anyOf, { description: '`none`: the customer chooses at submit.' }),
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
  phone_number: Type.Optional(PhoneNumber),
  wallet_number: Type.Optional(WalletNumber),
  wallet_pin: Type.Optional(Pin),
  cardnet_payment_method: Type.Optional(CardnetMethod),
  mastercard_payment_method: Type.Optional(CardnetMethod),
  transactional_currency: Type.Optional(CurrencyCode),
  native_pay_token: Type.Optional(
    Type.String({ maxLength: 65_536, description: 'Goes to the card network once. Never logged, never stored.' }),
  ),
  native_pay_token_type: Type.Optional(Type.String({ maxLength: 64 })),
  amount: Type.Optional(Amount),
  currency: Type.Optional(CurrencyCode),
  customer_reference: Type.Optional(Type.String({ maxLength: 255 })),
});
export type CollectBody = Static<typeof CollectBody>;

export const CollectRedirectBody = Type.Object({
  ...CollectBody.properties,
  payment_method: Type.Optional(CollectBody.properties.payment_method),
});
export type CollectRedirectBody = Static<typeof CollectRedirectBody>;

export const SubmitBody = Type.Object({
  payment_id: PaymentIdIn,
  payment_method_id: Type.String({ minLength: 1, maxLength: 64 }),
  ewallet_number: Type.Optional(WalletNumber),
  ewallet_pin: Type.Optional(Pin),
  flash_number: Type.Optional(WalletNumber),
  flash_pin: Type.Optional(Pin),
  mobile_money_phone_number: Type.Optional(PhoneNumber),
  cardnet_payment_method: Type.Optional(CardnetMethod),
  mastercard_payment_method: Type.Optional(CardnetMethod),
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

export const TransactionParams = Type.Object({ transaction_id: PathId });
export const PaymentIdParams = Type.Object({ payment_id: PaymentIdIn });

const Status = Type.String({
  description:
    'pending, processing, pending_otp_verification, pending_mobile_money_verification, pendingBankProofUpload, approved, declined, failed, cancelled, expired or refunded. Of a payout’s line: pending, processing, completed or failed.',
});

export const SessionAnswer = Type.Object({
  success: Type.Boolean(),
  session_id: Text,
  status: Type.String({ description: '`ACTIVE`: it pays once, until `expires_at`.' }),
  session_token: Type.String({ description: 'The bearer value of the client; shown this once.' }),
  issued_at: Timestamp,
  expires_at: Timestamp,
  amount: Text,
  currency: Text,
  customer_reference: Text,
  scope: nullable(Text),
  message: Text,
});

const PAYMENT_FIELDS = {
  success: Type.Boolean(),
  transaction_id: Text,
  payment_id: Text,
  status: Status,
  message: Text,
  amount: BoundAmount,
  currency: Text,
  fee_amount: Text,
  total_amount: TotalAmount,
  customer_reference: Text,
  summary_code: Text,
  created_at: Timestamp,
};

const BankAccountAnswer = Type.Object({
  id: Type.String({ description: 'What a submit takes as `bank_account_id`.' }),
  account_name: Text,
  account_number: Text,
  iban: nullable(Text),
  swift: nullable(Text),
  currency: Text,
  branch_city: nullable(Text),
});

/** The additional fields of a bank transfer's answers. */
const TRANSFER_FIELDS = {
  bank_account: Type.Optional(
    nullable(
      BankAccountAnswer,
      'bank_transfer: where the money goes; null where there are several accounts and no submit has chosen one yet.',
    ),
  ),
  proof_upload_url: Type.Optional(Type.String({ description: 'bank_transfer: where the proof is uploaded.' })),
};

export const SubmitAnswer = Type.Object({
  ...PAYMENT_FIELDS,
  ...TRANSFER_FIELDS,
  redirect_url: Type.Optional(Type.String({ description: 'Where the card’s issuer asks its customer (202).' })),
});

export const BanksAnswer = Type.Object({
  success: Type.Boolean(),
  banks: Type.Array(Type.Object({ id: Text, name: Text, country: Text, accounts: Type.Array(BankAccountAnswer) })),
});

export const ProofBody = Type.Object({
  payment_id: PaymentIdIn,
  file: Type.Unsafe<UploadedFile>({
    contentMediaType: 'application/octet-stream',
    description: 'One JPEG, PNG or PDF by content, at most 5 MiB (5 242 880 bytes).',
  }),
});

export const ProofAnswer = Type.Object({
  ...PAYMENT_FIELDS,
  proof: Type.Object({
    id: Text,
    status: Type.String({ description: 'waiting: an operator checks the transfer.' }),
    content_type: Text,
    size: Type.Integer({ description: 'Bytes that are kept: what stands behind the end of a picture is cut away.' }),
    uploaded_at: Timestamp,
  }),
});

export const ReleasedAnswer = Type.Object({
  success: Type.Boolean(),
  transaction_id: Text,
  status: Status,
  amount: Type.String({ description: 'What was released to you: the amount, less the fee when you cover it.' }),
  currency: Text,
  released_at: Type.String({ format: 'date-time', description: 'When it was released the first time.' }),
  message: Text,
});

const PageUrl = Type.String({ description: 'The hosted page. It opens once, in the first browser that visits it.' });

const COLLECT_FIELDS = {
  ...PAYMENT_FIELDS,
  ...TRANSFER_FIELDS,
  session_id: Type.Optional(Type.String({ description: 'Of the card network’s hosted form; of a card only.' })),
  payment_url: Type.Optional(PageUrl),
};

export const CollectAnswer = Type.Object(COLLECT_FIELDS);

export const CollectRedirectAnswer = Type.Object({ ...COLLECT_FIELDS, redirect_url: PageUrl });

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

const STATUS_FIELDS = {
  transaction_id: Text,
  status: Status,
  amount: Text,
  currency: Text,
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
};

export const StatusAnswer = Type.Object(STATUS_FIELDS);

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
      icon_url: nullable(Text),
      is_enabled: Type.Boolean(),
      is_selected: Type.Boolean(),
      configuration: Type.Object({
        currency: Text,
        carriers: Type.Optional(
          Type.Array(Type.Object({ carrier: Text, country: Text }), {
            description: 'mobile_money: the carriers that take the currency.',
          }),
        ),
        banks: Type.Optional(Type.Array(Text, { description: 'bank_transfer: the banks’ names.' })),
        cardnet_payment_method: Type.Optional(Type.String({ description: 'card: what a collect takes.' })),
      }),
    }),
  ),
  timeline: Type.Array(Type.Object({ status: Status, at: Timestamp, reason: nullable(Text) })),
});

const AtCarrier = Type.String({
  description:
    'What the payment is called at the carrier: from the submit on the reference that the carrier is asked under, and the ' +
    'carrier’s own name for it once it has told one. Empty before the submit.',
});

export const MobileMoneyAnswer = Type.Object({
  status_code: Type.Integer(),
  message: Text,
  data: Type.Object({
    status: Type.String({ description: 'pending, processing, completed, failed or cancelled.' }),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Approximate.' }),
    message: Text,
    payment_info: nullable(
      Type.Object({
        carrier: nullable(Text),
        phone_number: nullable(Text),
        amount: Text,
        currency: Text,
        provider_reference: AtCarrier,
        completed_at: nullable(Timestamp),
        reason: nullable(Text),
      }),
    ),
    provider_reference: AtCarrier,
    estimated_completion: Timestamp,
  }),
});

const Order = Type.String({ minLength: 1, maxLength: 255 });

export const CardCallbackBody = Type.Object({
  order_id: Type.Optional(Order),
  transaction_id: Type.Optional(Order),
  result: Type.Optional(Type.String({ maxLength: 64, description: 'AUTHENTICATED, REJECTED or UNAVAILABLE.' })),
  timestamp: Type.Optional(
    Type.Union([Type.String({ pattern: '^[0-9]{1,12}$' }), Type.Integer({ minimum: 0 })], {
      description: 'Unix seconds; at most five minutes old.',
    }),
  ),
  nonce: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Whatever the sender chose, without a point; a part of what is signed.',
    }),
  ),
  signature: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'HMAC-SHA-256 over `timestamp.nonce.order_id.transaction_id.result`, in hexadecimal. The header ' +
        '`X-Cardnet-Signature` may carry it instead.',
    }),
  ),
  'order.id': Type.Optional(Type.String({ maxLength: 255, description: 'The network’s own.' })),
});
export type CardCallbackBody = Static<typeof CardCallbackBody>;

/** The query of the return address that the gateway gave to the network. */
export const CardReturnQuery = Type.Object({
  t: Type.Optional(Type.String({ maxLength: 64 })),
  e: Type.Optional(Type.String({ maxLength: 16 })),
  n: Type.Optional(Type.String({ maxLength: 64 })),
  s: Type.Optional(Type.String({ maxLength: 64 })),
});

export const OrderParams = Type.Object({ order_id: PathId });

export const CheckStatusAnswer = Type.Object({
  ...STATUS_FIELDS,
  upstream_status: nullable(Type.String({ description: 'The order’s state in the card network’s own words.' })),
});

export const CardStatusAnswer = Type.Object({
  ...STATUS_FIELDS,
  three_ds: Type.Object({
    status: nullable(Type.String({ description: 'What the network says of the customer’s authentication.' })),
    eci: nullable(Type.String({ description: 'Electronic commerce indicator (EMV 3-D Secure).' })),
    challenge_url: nullable(Type.String({ description: 'Where the issuer asks its customer, while it does.' })),
  }),
});
