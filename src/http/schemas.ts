/**
 * Schemas of requests and answers: JSON Schema, from which validation and the OpenAPI document both come.
 *
 * Invariant: unknown fields are ignored, never refused (contract, top). What depends on the chosen method is checked
 * by the route, because no schema says it as clearly.
 */

import { type Static, Type } from 'typebox';
import { CODE_FORM } from '../domain/one-time-code.ts';
import { PIN_DIGITS } from '../domain/wallet.ts';
import { named } from './components.ts';
import type { UploadedFile } from './multipart.ts';
import {
  AMOUNT_FORM,
  Amount,
  BoundAmount,
  CurrencyCode,
  DeliveryBehaviour,
  described,
  FeeCoveredBy,
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
/** An amount as a caller writes it: its form is checked where it is used. */
const OrderedAmount = Type.String({
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
const InfoCollected = oneOf(['none', 'full', 'partial'], named('InfoCollected'));
/** An empty one counts as missing, like every field that a method needs. */
function pinOf(meaning: string) {
  return Type.String({
    pattern: `^(${PIN_DIGITS})?$`,
    description: `${meaning} Four to eight digits. Never logged, never stored.`,
  });
}
const PaymentIdIn = Type.String({
  minLength: 10,
  description: 'The opaque `payment_id` from the collect’s answer, in full.',
});

const SessionScope = oneOf(['collect', 'payout'], named('SessionScope'));

export const SessionBody = Type.Object(
  {
    amount: OrderedAmount,
    currency: CurrencyCode,
    customer_reference: Reference,
    ttl_seconds: Type.Optional(
      Type.Integer({
        description: 'How long the session is valid, in seconds: 1 to 86400, in production at least 60. Default: 1800.',
      }),
    ),
    scope: Type.Optional(described(SessionScope, 'What it may do. Default: both.')),
  },
  named('SessionBody'),
);
export type SessionBody = Static<typeof SessionBody>;

export const CollectBody = Type.Object(
  {
    payment_method: described(MethodName, '`none`: the customer chooses at submit.'),
    user_info: InfoCollected,
    payment_method_info: InfoCollected,
    fee_covered_by: FeeCoveredBy,
    delivery_behaviour: DeliveryBehaviour,
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
    transactional_currency: Type.Optional(
      described(
        CurrencyCode,
        'The currency to charge. If sent, it must be the session’s; any other is refused with 1102.',
      ),
    ),
    native_pay_token: Type.Optional(
      Type.String({
        maxLength: 65_536,
        description:
          'Required for google_pay and apple_pay: the token. It is sent to the card network once, and never logged or stored.',
      }),
    ),
    native_pay_token_type: Type.Optional(Type.String({ maxLength: 64 })),
    amount: Type.Optional(OrderedAmount),
    currency: Type.Optional(CurrencyCode),
    customer_reference: Type.Optional(Type.String({ maxLength: 255 })),
  },
  named('CollectBody'),
);
export type CollectBody = Static<typeof CollectBody>;

export const CollectRedirectBody = Type.Object(
  {
    ...CollectBody.properties,
    payment_method: Type.Optional(CollectBody.properties.payment_method),
  },
  named('CollectRedirectBody'),
);
export type CollectRedirectBody = Static<typeof CollectRedirectBody>;

export const SubmitBody = Type.Object(
  {
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
  },
  named('SubmitBody'),
);
export type SubmitBody = Static<typeof SubmitBody>;

export const VerifyBody = Type.Object(
  {
    payment_id: PaymentIdIn,
    otp_code: Type.String({ pattern: CODE_FORM.source, description: 'The one-time code: six digits.' }),
  },
  named('VerifyBody'),
);
export type VerifyBody = Static<typeof VerifyBody>;

export const ResendBody = Type.Object({ payment_id: PaymentIdIn }, named('ResendBody'));
export type ResendBody = Static<typeof ResendBody>;

export const TransactionParams = Type.Object({ transaction_id: PathId });
export const PaymentIdParams = Type.Object({ payment_id: PaymentIdIn });

export const SessionAnswer = Type.Object(
  {
    success: Type.Boolean(),
    session_id: Text,
    status: oneOf(['ACTIVE'], 'The session can pay once, until `expires_at`.'),
    session_token: Type.String({ description: 'The bearer token for the client; shown only this once.' }),
    issued_at: Timestamp,
    expires_at: Timestamp,
    amount: Amount,
    currency: CurrencyCode,
    customer_reference: Text,
    scope: nullable(SessionScope),
    message: Text,
  },
  named('SessionAnswer'),
);

const PAYMENT_FIELDS = {
  success: Type.Boolean(),
  transaction_id: Text,
  payment_id: Text,
  status: PaymentStatus,
  message: Text,
  amount: BoundAmount,
  currency: CurrencyCode,
  fee_amount: Amount,
  total_amount: TotalAmount,
  customer_reference: Text,
  summary_code: Text,
  created_at: Timestamp,
};

const BankAccount = Type.Object(
  {
    id: Type.String({ description: 'Send it as `bank_account_id` in a submit.' }),
    account_name: Text,
    account_number: Text,
    iban: nullable(Text),
    swift: nullable(Text),
    currency: CurrencyCode,
    branch_city: nullable(Text),
  },
  named('BankAccount'),
);

/** The additional fields of a bank transfer's answers. */
const TRANSFER_FIELDS = {
  bank_account: Type.Optional(
    nullable(
      BankAccount,
      'For bank_transfer: the account to transfer to; null if there are several and no submit has chosen one yet.',
    ),
  ),
  proof_upload_url: Type.Optional(Type.String({ description: 'For bank_transfer: where to upload the proof.' })),
};

export const SubmitAnswer = Type.Object(
  {
    ...PAYMENT_FIELDS,
    ...TRANSFER_FIELDS,
    redirect_url: Type.Optional(Type.String({ description: 'Where the issuer challenges the customer (with 202).' })),
  },
  named('SubmitAnswer'),
);

export const BanksAnswer = Type.Object(
  {
    success: Type.Boolean(),
    banks: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The id of the bank. A submit takes the id of one of its `accounts`.' }),
          name: Type.String({ description: 'The name of the bank.' }),
          country: Text,
          accounts: Type.Array(BankAccount),
        },
        named('Bank'),
      ),
    ),
  },
  named('BanksAnswer'),
);

export const ProofBody = Type.Object(
  {
    payment_id: PaymentIdIn,
    file: Type.Unsafe<UploadedFile>({
      contentMediaType: 'application/octet-stream',
      description: 'One JPEG, PNG or PDF, judged by its content, of at most 5 MiB (5 242 880 bytes).',
    }),
  },
  named('ProofBody'),
);

export const ProofAnswer = Type.Object(
  {
    ...PAYMENT_FIELDS,
    proof: Type.Object(
      {
        id: Type.String({ description: 'The id of the proof, `prf_…`, by which the operator knows it.' }),
        status: oneOf(['waiting'], 'An operator still has to check the transfer.'),
        content_type: Text,
        size: Type.Integer({
          description: 'The number of bytes stored. Bytes after the end of a picture are cut off.',
        }),
        uploaded_at: Timestamp,
      },
      named('Proof'),
    ),
  },
  named('ProofAnswer'),
);

export const ReleasedAnswer = Type.Object(
  {
    success: Type.Boolean(),
    transaction_id: Text,
    status: PaymentStatus,
    amount: described(
      Amount,
      'What was released to you: the amount, less the fee if you cover it, and less what refunds have taken of the held ' +
        'money.',
    ),
    currency: CurrencyCode,
    released_at: Type.String({ format: 'date-time', description: 'When the money was first released.' }),
    message: Text,
  },
  named('ReleasedAnswer'),
);

const PageUrl = Type.String({ description: 'The hosted page. It opens once, in the first browser that visits it.' });

const COLLECT_FIELDS = {
  ...PAYMENT_FIELDS,
  ...TRANSFER_FIELDS,
  session_id: Type.Optional(Type.String({ description: 'For card: the session of the card network’s hosted form.' })),
  payment_url: Type.Optional(PageUrl),
};

export const CollectAnswer = Type.Object(COLLECT_FIELDS, named('CollectAnswer'));

export const CollectRedirectAnswer = Type.Object(
  { ...COLLECT_FIELDS, redirect_url: PageUrl },
  named('CollectRedirectAnswer'),
);

export const VerifiedAnswer = Type.Object(
  {
    ...PAYMENT_FIELDS,
    debit_amount: Amount,
    wallet_balance: Amount,
    verified_at: Timestamp,
    completed_at: Timestamp,
  },
  named('VerifiedAnswer'),
);

export const ResentAnswer = Type.Object(
  {
    ...PAYMENT_FIELDS,
    otp_sent_to: Type.String({ description: 'The phone number that the code was sent to, masked.' }),
    resend_count: Type.Integer(),
    max_resends: Type.Integer(),
    resent_at: Timestamp,
    expires_at: Timestamp,
  },
  named('ResentAnswer'),
);
