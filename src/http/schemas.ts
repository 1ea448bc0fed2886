/**
 * Schemas of requests and answers: JSON Schema, from which validation and the OpenAPI document both come.
 *
 * Invariant: unknown fields are ignored, never refused (contract, top). What depends on the chosen method is checked
 * by the route, because no schema says it as clearly.
 */

import { type Static, Type } from 'typebox';
import type { UploadedFile } from './multipart.ts';
import {
  AMOUNT_FORM,
  AnyStatus,
  BoundAmount,
  CurrencyCode,
  MethodName,
  nullable,
  oneOf,
  PathId,
  PaymentStatus,
  Text,
  Timestamp,
  TotalAmount,
} from './schema-words.ts';

const Reference = Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the order.' });
const Amount = Type.String({
  maxLength: 64,
  documentedAs: AMOUNT_FORM,
  description:
    'A decimal string such as `12.50`, never a JSON number, with at most 15 digits before the decimal point and no more ' +
    'decimals than the currency has.',
});
const Url = Type.String({ maxLength: 2048 });
const Name = Type.String({ maxLength: 200 });
const WalletNumber = Type.String({ maxLength: 64 });
const PhoneNumber = Type.String({ maxLength: 64 });
const CardnetMethod = Type.String({ maxLength: 64 });
const Detail = Type.Union([Type.Literal('none'), Type.Literal('full'), Type.Literal('partial')]);
/** An empty one counts as missing, like every field that a method needs. */
function pinOf(meaning: string) {
  return Type.String({
    pattern: '^([0-9]{4,8})?$',
    description: `${meaning} Four to eight digits. Never logged, never stored.`,
  });
}
const PaymentIdIn = Type.String({
  minLength: 10,
  description: 'The opaque `payment_id` from the collect’s answer, in full.',
});

export const SessionBody = Type.Object({
  amount: Amount,
  currency: CurrencyCode,
  customer_reference: Reference,
  ttl_seconds: Type.Optional(
    Type.Integer({
      description: 'How long the session is valid, in seconds: 1 to 86400, in production at least 60. Default: 1800.',
    }),
  ),
  scope: Type.Optional(
    Type.Union([Type.Literal('collect'), Type.Literal('payout')], { description: 'What it may do. Default: both.' }),
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
  wallet_number: Type.Optional(
    Type.String({
      ...WalletNumber,
      description: 'For wallet: the number of the wallet that pays. Required, except by collect-redirect.',
    }),
  ),
  wallet_pin: Type.Optional(pinOf('For wallet: the wallet’s PIN. Required, except by collect-redirect.')),
  cardnet_payment_method: Type.Optional(CardnetMethod),
  mastercard_payment_method: Type.Optional(CardnetMethod),
  transactional_currency: Type.Optional(CurrencyCode),
  native_pay_token: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description:
        'Required for google_pay and apple_pay: the token. It is sent to the card network once, and never logged or stored.',
    }),
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
  ewallet_pin: Type.Optional(pinOf('Required for wallet: the wallet’s PIN.')),
  flash_number: Type.Optional(WalletNumber),
  flash_pin: Type.Optional(pinOf('Required for flash: the account’s PIN.')),
  mobile_money_phone_number: Type.Optional(PhoneNumber),
  cardnet_payment_method: Type.Optional(CardnetMethod),
  mastercard_payment_method: Type.Optional(CardnetMethod),
  session_id: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        'Required for card: the `session_id` from the collect’s answer, which names the card network’s form.',
    }),
  ),
  bank_account_id: Type.Optional(Type.String({ maxLength: 64 })),
});
export type SubmitBody = Static<typeof SubmitBody>;

export const VerifyBody = Type.Object({
  payment_id: PaymentIdIn,
  otp_code: Type.String({ pattern: '^[0-9]{6}$', description: 'The one-time code: six digits.' }),
});
export type VerifyBody = Static<typeof VerifyBody>;

export const ResendBody = Type.Object({ payment_id: PaymentIdIn });
export type ResendBody = Static<typeof ResendBody>;

export const TransactionParams = Type.Object({ transaction_id: PathId });
export const PaymentIdParams = Type.Object({ payment_id: PaymentIdIn });

export const SessionAnswer = Type.Object({
  success: Type.Boolean(),
  session_id: Text,
  status: oneOf(['ACTIVE'], 'The session can pay once, until `expires_at`.'),
  session_token: Type.String({ description: 'The bearer token for the client; shown only this once.' }),
  issued_at: Timestamp,
  expires_at: Timestamp,
  amount: Text,
  currency: Text,
  customer_reference: Text,
  scope: nullable(oneOf(['collect', 'payout'])),
  message: Text,
});

const PAYMENT_FIELDS = {
  success: Type.Boolean(),
  transaction_id: Text,
  payment_id: Text,
  status: PaymentStatus,
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
  id: Type.String({ description: 'Send it as `bank_account_id` in a submit.' }),
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
      'For bank_transfer: the account to transfer to; null if there are several and no submit has chosen one yet.',
    ),
  ),
  proof_upload_url: Type.Optional(Type.String({ description: 'For bank_transfer: where to upload the proof.' })),
};

export const SubmitAnswer = Type.Object({
  ...PAYMENT_FIELDS,
  ...TRANSFER_FIELDS,
  redirect_url: Type.Optional(Type.String({ description: 'Where the issuer challenges the customer (with 202).' })),
});

export const BanksAnswer = Type.Object({
  success: Type.Boolean(),
  banks: Type.Array(
    Type.Object({
      id: Type.String({ description: 'The id of the bank. A submit takes the id of one of its `accounts`.' }),
      name: Type.String({ description: 'The name of the bank.' }),
      country: Text,
      accounts: Type.Array(BankAccountAnswer),
    }),
  ),
});

export const ProofBody = Type.Object({
  payment_id: PaymentIdIn,
  file: Type.Unsafe<UploadedFile>({
    contentMediaType: 'application/octet-stream',
    description: 'One JPEG, PNG or PDF, judged by its content, of at most 5 MiB (5 242 880 bytes).',
  }),
});

export const ProofAnswer = Type.Object({
  ...PAYMENT_FIELDS,
  proof: Type.Object({
    id: Type.String({ description: 'The id of the proof, `prf_…`, by which the operator knows it.' }),
    status: oneOf(['waiting'], 'An operator still has to check the transfer.'),
    content_type: Text,
    size: Type.Integer({ description: 'The number of bytes stored. Bytes after the end of a picture are cut off.' }),
    uploaded_at: Timestamp,
  }),
});

export const ReleasedAnswer = Type.Object({
  success: Type.Boolean(),
  transaction_id: Text,
  status: PaymentStatus,
  amount: Type.String({
    description:
      'What was released to you: the amount, less the fee if you cover it, and less what refunds have taken of the held ' +
      'money.',
  }),
  currency: Text,
  released_at: Type.String({ format: 'date-time', description: 'When the money was first released.' }),
  message: Text,
});

const PageUrl = Type.String({ description: 'The hosted page. It opens once, in the first browser that visits it.' });

const COLLECT_FIELDS = {
  ...PAYMENT_FIELDS,
  ...TRANSFER_FIELDS,
  session_id: Type.Optional(Type.String({ description: 'For card: the session of the card network’s hosted form.' })),
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
  otp_sent_to: Type.String({ description: 'The phone number that the code was sent to, masked.' }),
  resend_count: Type.Integer(),
  max_resends: Type.Integer(),
  resent_at: Timestamp,
  expires_at: Timestamp,
});

/** What every read of a payment's status begins with. */
export const STATUS_FIELDS = {
  transaction_id: Text,
  status: PaymentStatus,
  amount: Text,
  currency: Text,
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
};

export const StatusAnswer = Type.Object({ ...STATUS_FIELDS, status: AnyStatus });

export const DetailAnswer = Type.Object({
  success: Type.Boolean(),
  transaction_id: Text,
  status: PaymentStatus,
  amount: Text,
  currency: Text,
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
  customer_reference: Text,
  payment_id: Text,
  payment_method: MethodName,
  fee_amount: Text,
  total_amount: Text,
  fee_covered_by: CollectBody.properties.fee_covered_by,
  delivery_behaviour: CollectBody.properties.delivery_behaviour,
  message: Text,
  refunded_amount: Text,
  payment_methods: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Send it as `payment_method_id` in a submit; `name` does as well.' }),
      name: Type.String({ description: 'The name of the method, for example `mobile_money`.' }),
      display_name: Text,
      channel: Type.String({ description: 'The kind of method: the same word as `name`.' }),
      icon_url: Text,
      is_enabled: Type.Boolean(),
      is_selected: Type.Boolean(),
      configuration: Type.Object({
        currency: Text,
        carriers: Type.Optional(
          Type.Array(Type.Object({ carrier: Text, country: Text }), {
            description: 'For mobile_money: the carriers that take the currency.',
          }),
        ),
        banks: Type.Optional(Type.Array(Text, { description: 'For bank_transfer: the names of the banks.' })),
        cardnet_payment_method: Type.Optional(Type.String({ description: 'For card: what to send in a collect.' })),
      }),
    }),
  ),
  timeline: Type.Array(Type.Object({ status: PaymentStatus, at: Timestamp, reason: nullable(Text) })),
});

const AtCarrier = Type.String({
  description:
    'The payment’s reference at the carrier: after the submit the one under which the gateway requests the money and inquires, ' +
    'then the carrier’s own reference once the carrier has sent one. Empty before the submit.',
});

export const MobileMoneyAnswer = Type.Object({
  status_code: Type.Integer(),
  message: Text,
  data: Type.Object({
    status: oneOf(['pending', 'processing', 'completed', 'failed', 'cancelled'], 'The last three are final.'),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'In per cent; approximate.' }),
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
