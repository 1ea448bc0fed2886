/**
 * MTN MoMo: translates our orders into requests to pay and transfers, and MTN's answers into ours.
 *
 * Invariant: each is sent once under the reference of its attempt; everything after that is inquiry.
 */

import type { Answer, InquiryAnswer } from '../../domain/answer.ts';
import { formatMinor } from '../../domain/money.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CarrierOrder, CollectConnector, Inquiry, PayoutConnector, PayoutRequest } from '../connector.ts';
import type { Reading } from '../response.ts';
import { createMtnMomoClient, type MoneyRequest, type MtnMomoConfig, type Party } from './client.ts';
import { COLLECTION, DISBURSEMENT, type Product } from './products.ts';
import { accountOf, referenceFor } from './reference.ts';
import { readStart, readStatus } from './statuses.ts';

/**
 * Milliseconds. A request is sent at most 10 s after it was decided, and MTN's front end knows its reference once it has answered
 * 202. A minute leaves room for their queues; a reference still unknown after it was not accepted.
 */
const SETTLE_DELAY_MS = 60_000;

/** Characters of the longest `payerMessage` and `payeeNote` that MTN accepts. */
const MAX_NOTE_LENGTH = 160;

type Doors = Pick<Platform, 'outbound' | 'clock' | 'log'>;

/** Collections: takes money from a customer who confirms on the phone. */
export function createMtnMomo(config: MtnMomoConfig, doors: Doors): CollectConnector {
  const { send, inquire, common } = openProduct(config, COLLECTION, doors);
  return { ...common, name: 'mtn-momo', start: (order) => send(order, requestToPay(order)), inquire };
}

/** Disbursements: sends money from our account at MTN to a customer's. */
export function createMtnMomoDisbursement(config: MtnMomoConfig, doors: Doors): PayoutConnector {
  const { send, inquire, common } = openProduct(config, DISBURSEMENT, doors);
  return { ...common, name: 'mtn-momo-disbursement', payOut: (order) => send(order, transfer(order)), inquire };
}

/** What the two products have in common: an order that is sent once, the inquiry about it, and the log. */
function openProduct(config: MtnMomoConfig, product: Product, doors: Doors) {
  const { log } = doors;
  const client = createMtnMomoClient(config, product, doors);

  /** The answer of a reading, once what an operator may have to fix is logged: only their terms and statuses, never a body. */
  const logged = <A extends Answer | InquiryAnswer>(call: 'start' | 'inquire', { answer, alarm }: Reading<A>): A => {
    const at = { product: product.name, call };
    if (alarm?.kind === 'mismatch') log.error('mtn_momo_answer_mismatch', { ...at, field: alarm.what });
    else if (alarm?.kind === 'ours') log.error('mtn_momo_operator_needed', { ...at, word: alarm.what });
    else if (alarm?.kind === 'unfamiliar') log.warn('mtn_momo_word_unfamiliar', { ...at, word: alarm.what });
    else if (answer.kind === 'not_sent' || answer.kind === 'unknown') {
      log.warn('mtn_momo_no_result', { ...at, outcome: answer.kind, reason: answer.reason });
    }
    return answer;
  };

  return {
    common: {
      displayName: 'MTN MoMo',
      account: accountOf(config),
      settleDelayMs: SETTLE_DELAY_MS,
      market: config.targetEnvironment,
      referenceFor,
    },
    send: async ({ reference, callbackUrl }: Pick<CarrierOrder, 'reference' | 'callbackUrl'>, body: MoneyRequest) =>
      logged('start', readStart(await client.request(reference, body, callbackUrl), product)),
    inquire: async (order: Inquiry) =>
      logged('inquire', readStatus(await client.statusOf(order.reference), order, product)),
  };
}

function requestToPay(order: CarrierOrder): MoneyRequest {
  return {
    payer: partyOf(order.msisdn),
    payerMessage: noteOf(order, order.customerReference),
    payeeNote: noteOf(order, order.merchantName),
    ...moneyOf(order),
  };
}

/** The receiver reads the payee's note: who pays, and the merchant's words. */
function transfer(order: PayoutRequest): MoneyRequest {
  const { merchantName, note } = order;
  return {
    payee: partyOf(order.msisdn),
    payerMessage: noteOf(order, order.customerReference),
    payeeNote: noteOf(order, note === null ? merchantName : `${merchantName} ${note}`),
    ...moneyOf(order),
  };
}

function moneyOf({ amountMinor, currency, attemptId }: Pick<CarrierOrder, 'amountMinor' | 'currency' | 'attemptId'>) {
  return { amount: formatMinor(amountMinor, currency), currency: currency.toUpperCase(), externalId: attemptId };
}

function partyOf(msisdn: string): Party {
  return { partyIdType: 'MSISDN', partyId: msisdn.replace(/^\+/, '') };
}

/**
 * A text in the form that MTN accepts. Their errors page names “unsupported special characters”, an apostrophe for example, as a
 * cause of 400, but not which are supported: letters without accents, digits and a few plain signs are left. It is cut without
 * splitting a character. An empty note is refused, too: in its place stands the attempt's id, with a dash.
 */
function noteOf({ attemptId }: Pick<CarrierOrder, 'attemptId'>, text: string): string {
  const plain = text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[_/]/g, '-')
    .replace(/[^\p{Lu}\p{Ll}\p{Lo}\p{Nd}.,-]+/gu, ' ')
    .trim();
  let note = '';
  for (const character of plain) {
    if (note.length + character.length > MAX_NOTE_LENGTH) break;
    note += character;
  }
  return note.trim() || attemptId.replace('_', '-');
}
