/**
 * Schemas of what is read of a payment: its status, the payment in full, and a mobile-money payment as its poll shows it.
 *
 * Invariant: as in all schemas, unknown fields are ignored, never refused.
 */

import { Type } from 'typebox';
import { named } from './components.ts';
import {
  Amount,
  AnyStatus,
  CurrencyCode,
  DeliveryBehaviour,
  described,
  FeeCoveredBy,
  MethodName,
  nullable,
  oneOf,
  PaymentStatus,
  Text,
  Timestamp,
} from './schema-words.ts';

/** What every read of a payment's status begins with. */
export const STATUS_FIELDS = {
  transaction_id: Text,
  status: PaymentStatus,
  amount: Amount,
  currency: CurrencyCode,
  created_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
};

export const StatusAnswer = Type.Object({ ...STATUS_FIELDS, status: AnyStatus }, named('StatusAnswer'));

export const DetailAnswer = Type.Object(
  {
    success: Type.Boolean(),
    kind: oneOf(['payment'], 'This transaction is a payment.'),
    ...STATUS_FIELDS,
    customer_reference: Text,
    payment_id: Text,
    payment_method: MethodName,
    fee_amount: described(
      Amount,
      'The fee; while `payment_method` is `none`, that of your general rule: the submit takes the method’s own.',
    ),
    total_amount: described(
      Amount,
      'The amount plus the fee, if the payer pays it; while `payment_method` is `none`, by your general rule.',
    ),
    fee_covered_by: FeeCoveredBy,
    delivery_behaviour: DeliveryBehaviour,
    message: Text,
    refunded_amount: Amount,
    late_payments: Type.Array(
      Type.Object(
        {
          transaction_id: described(Text, 'The payment that it came for: this one, or another one of its session.'),
          amount: Amount,
          currency: CurrencyCode,
          received_at: nullable(Timestamp),
          booked_to: nullable(
            oneOf(['merchant', 'payer'], named('LateBookedTo')),
            'To whom the gateway’s operator has booked it; null while it waits for that.',
          ),
        },
        named('LatePayment'),
      ),
      {
        description:
          'Money that came too late to count by itself, for this payment or for another one of its session. ' +
          'The status does not change. While there is any that was not booked to the payer, do not ask the customer to pay ' +
          'again. Of an archived payment only the last try is looked at.',
      },
    ),
    payment_methods: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'Send it as `payment_method_id` in a submit; `name` does as well.' }),
          name: described(MethodName, 'The name of the method, for example `mobile_money`.'),
          display_name: Text,
          channel: described(MethodName, 'The kind of method: the same word as `name`.'),
          icon_url: Text,
          fee_amount: described(
            Amount,
            'What the customer pays on top of the amount by this method: its fee, if the buyer covers it.',
          ),
          total_amount: described(
            Amount,
            'What the customer pays by this method, as long as `is_enabled` is true: show it before asking for a PIN or a confirmation.',
          ),
          is_enabled: Type.Boolean(),
          is_selected: Type.Boolean(),
          configuration: Type.Object(
            {
              currency: CurrencyCode,
              carriers: Type.Optional(
                Type.Array(Type.Object({ carrier: Text, country: Text }, named('Carrier')), {
                  description: 'For mobile_money: the carriers that take the currency.',
                }),
              ),
              banks: Type.Optional(Type.Array(Text, { description: 'For bank_transfer: the names of the banks.' })),
              cardnet_payment_method: Type.Optional(
                Type.String({ description: 'For card: what to send in a collect.' }),
              ),
            },
            named('MethodConfiguration'),
          ),
        },
        named('MethodOffer'),
      ),
    ),
    timeline: Type.Array(
      Type.Object({ status: PaymentStatus, at: Timestamp, reason: nullable(Text) }, named('PaymentTimelineEntry')),
    ),
  },
  named('PaymentDetail', 'A payment.'),
);

const AtCarrier = Type.String({
  description:
    'The payment’s reference at the carrier: after the submit the one under which the gateway requests the money and inquires, ' +
    'then the carrier’s own reference once the carrier has sent one. Empty before the submit.',
});

export const MobileMoneyAnswer = Type.Object(
  {
    status_code: Type.Integer(),
    message: Text,
    data: Type.Object(
      {
        status: oneOf(
          ['pending', 'processing', 'completed', 'failed', 'cancelled'],
          named('MobileMoneyStatus', 'The last three are final.'),
        ),
        progress: Type.Integer({ minimum: 0, maximum: 100, description: 'In per cent; approximate.' }),
        message: Text,
        payment_info: nullable(
          Type.Object(
            {
              carrier: nullable(Text),
              phone_number: nullable(Text),
              amount: Amount,
              currency: CurrencyCode,
              provider_reference: AtCarrier,
              completed_at: nullable(Timestamp),
              reason: nullable(Text),
            },
            named('MobileMoneyInfo'),
          ),
        ),
        provider_reference: AtCarrier,
        estimated_completion: Timestamp,
      },
      named('MobileMoneyState'),
    ),
  },
  named('MobileMoneyAnswer'),
);
