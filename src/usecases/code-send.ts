/**
 * Sends a one-time code to the customer's phone, after it has been committed.
 *
 * Invariant: a code is sent at most once, and only if it was committed. It is in no log. Whether the text arrived is never certain;
 * the customer can ask for another code.
 */

import { MINUTE_MS } from '../domain/durations.ts';
import { formatMinor } from '../domain/money.ts';
import { CODE_LIFE_MS } from '../domain/one-time-code.ts';
import type { Merchant, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import { mayHaveHappened, type Reply, rethrowUnlessTransient, retryWhileUnavailable } from './perform.ts';

interface CodeText {
  readonly phone: string;
  readonly code: string;
  /** Undefined: the payment's. */
  readonly language: string | undefined;
}

/** A code that a decision has asked for, to be sent once that is committed. */
export interface CodeAsked {
  readonly payment: Payment;
  readonly text: CodeText;
}

/**
 * Runs a call that may ask for a code, and sends the code in the background: when the call is answered, or when the outcome of its
 * commit is unknown and the code turns out to be written. `asked` gives what the call's last decision asked for.
 */
export async function sendingCode(
  deps: Deps,
  merchant: Merchant,
  asked: () => CodeAsked | undefined,
  run: () => Promise<Reply>,
): Promise<Reply> {
  const send = (by: typeof sendCode): void => {
    const code = asked();
    if (code !== undefined) deps.background(by(deps, merchant, code));
  };
  try {
    const reply = await run();
    if (reply.replayed !== true) send(sendCode);
    return reply;
  } catch (error) {
    if (mayHaveHappened(error)) send(sendCodeInDoubt);
    throw error;
  }
}

/** Sends the code, in the customer's language. A failure is logged and not thrown: another code can be asked for (contract §4). */
async function sendCode(deps: Deps, merchant: Merchant, { payment, text }: CodeAsked): Promise<void> {
  const sender = deps.connectors.texts;
  if (sender === undefined) {
    deps.log.error('code_not_sent', { transaction_id: payment.id, reason: 'no text sender is configured' });
    return;
  }
  const words = {
    code: text.code,
    // The customer agrees to the total that is debited, not to the amount before the fee.
    amount: formatMinor(payment.total_minor, payment.currency),
    currency: payment.currency.toUpperCase(),
    merchant: merchant.name,
    minutes: CODE_LIFE_MS / MINUTE_MS,
  };
  const message = { to: text.phone, text: deps.codeText(text.language ?? payment.language, words) };
  const outcome = await sender.sendText(message);
  if (outcome !== 'sent') deps.log.warn('code_not_sent', { transaction_id: payment.id, reason: outcome });
}

/**
 * Sends a code whose commit lost its answer, if the code was written after all and still counts: a repeated call would find it
 * asked for, and send none. A commit that takes effect only later sends nothing; the customer can ask for another code.
 */
async function sendCodeInDoubt(deps: Deps, merchant: Merchant, asked: CodeAsked): Promise<void> {
  const { payment, text } = asked;
  try {
    const written = await retryWhileUnavailable(deps, () => deps.store.code.get(payment.shard, payment.id));
    // The hash is of the payment and the code, which this call alone has drawn.
    const isWritten = written?.code_hash === deps.secrets.mac('one_time_code', payment.id, text.code);
    if (isWritten) await sendCode(deps, merchant, asked);
  } catch (error) {
    rethrowUnlessTransient(error);
    deps.log.warn('code_not_sent', { transaction_id: payment.id, reason: 'whether it counts could not be read' });
  }
}
