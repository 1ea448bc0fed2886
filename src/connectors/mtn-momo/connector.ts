/**
 * MTN MoMo collections: translates our order into a request to pay, and what they say into our answers.
 *
 * Invariant: a request to pay is sent once under the reference of its attempt; everything after that is inquiry.
 */

import { formatMinor } from '../../domain/money.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Answer, CollectConnector, CollectOrder, InquiryAnswer } from '../connector.ts';
import { hintOf } from './callback.ts';
import { createMtnMomoClient, type MtnMomoConfig, type RequestToPay } from './client.ts';
import { referenceFor } from './reference.ts';
import { type Reading, readStart, readStatus } from './statuses.ts';

/**
 * A request to pay leaves at most 10 s after it was decided, and MTN's front knows its reference when it has answered
 * 202. A minute leaves room for their queues; a reference still unknown after it was not taken.
 */
const SETTLE_DELAY = 60_000;

/** The longest `payerMessage` and `payeeNote` that MTN takes. */
const LONGEST_NOTE = 160;

export function createMtnMomo(
  config: MtnMomoConfig,
  doors: Pick<Platform, 'outbound' | 'clock' | 'log'>,
): CollectConnector {
  const { log } = doors;
  const client = createMtnMomoClient(config, doors);

  /** Logs what a person may have to mend; their words and statuses only, never a body. */
  const told = <A extends Answer | InquiryAnswer>(call: 'start' | 'inquire', { answer, alarm }: Reading<A>): A => {
    if (alarm?.kind === 'mismatch') log.error('mtn_momo_answer_mismatch', { call, field: alarm.what });
    else if (alarm?.kind === 'unfamiliar') log.warn('mtn_momo_word_unfamiliar', { call, word: alarm.what });
    else if (answer.kind === 'not_sent' || answer.kind === 'unknown') {
      log.warn('mtn_momo_no_result', { call, outcome: answer.kind, reason: answer.reason });
    }
    return answer;
  };

  return {
    name: 'mtn-momo',
    displayName: 'MTN MoMo',
    settleDelay: SETTLE_DELAY,
    market: config.targetEnvironment,
    referenceFor,
    start: async (order) =>
      told('start', readStart(await client.requestToPay(order.reference, requestToPay(order), order.callbackUrl))),
    inquire: async (order) => told('inquire', readStatus(await client.statusOf(order.reference), order)),
    callbackHint: hintOf,
  };
}

function requestToPay(order: CollectOrder): RequestToPay {
  return {
    amount: formatMinor(order.amountMinor, order.currency),
    currency: order.currency.toUpperCase(),
    externalId: order.attemptId,
    payer: { partyIdType: 'MSISDN', partyId: order.msisdn.replace(/^\+/, '') },
    payerMessage: noteOf(order.customerReference),
    payeeNote: noteOf(order.merchantName),
  };
}

/**
 * A text as MTN takes it: control characters and marks that turn the direction of writing become blanks, so do
 * apostrophes (their errors page names them as a cause of 400), and it is cut without splitting a character.
 */
function noteOf(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069'\u2018\u2019`]+/gu, ' ').trim();
  let note = '';
  for (const character of plain) {
    if (note.length + character.length > LONGEST_NOTE) break;
    note += character;
  }
  return note;
}
