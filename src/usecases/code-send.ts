/**
 * Sends a one-time code to the customer's phone, after it has been committed.
 *
 * Invariant: a code is sent at most once, and only if it was committed. It is in no log. Whether the text arrived is never certain; the customer can ask for another code.
 */

import { formatMinor } from '../domain/money.ts';
import { CODE_LIFE_MS } from '../domain/one-time-code.ts';
import type { Merchant, Payment } from '../domain/records.ts';
import type { PaymentSubmitCommand } from '../domain/submission.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient, retryWhileUnavailable } from './perform.ts';

interface CodeText extends Pick<PaymentSubmitCommand, 'language'> {
  readonly phone: string;
  readonly code: string;
}

/**
 * Sends the code to `phone`, in the customer's language. A failure is logged and not thrown: the customer can ask for another
 * code (resend-otp, contract §4).
 */
export async function sendCode(
  deps: Deps,
  payment: Payment,
  merchant: Merchant,
  { phone, code, language = payment.language }: CodeText,
): Promise<void> {
  const sender = deps.connectors.texts;
  if (sender === undefined) {
    deps.log.error('code_not_sent', { transaction_id: payment.id, reason: 'no text sender is configured' });
    return;
  }
  const text = deps.codeText(language, {
    code,
    // The customer agrees to the total that is debited, not to the amount before the fee.
    amount: formatMinor(payment.total_minor, payment.currency),
    currency: payment.currency.toUpperCase(),
    merchant: merchant.name,
    minutes: CODE_LIFE_MS / 60_000,
  });
  const outcome = await sender.sendText({ to: phone, text });
  if (outcome !== 'sent') deps.log.warn('code_not_sent', { transaction_id: payment.id, reason: outcome });
}

/**
 * Sends a code whose commit lost its answer, if the code was written after all and still counts: a repeated call would find it
 * asked for, and send none. A commit that takes effect only later sends nothing; the customer can ask for another code.
 */
export async function sendCodeInDoubt(deps: Deps, payment: Payment, merchant: Merchant, text: CodeText): Promise<void> {
  try {
    const written = await retryWhileUnavailable(deps, () => deps.store.code.get(payment.shard, payment.id));
    // The hash is of the payment and the code, which this call alone has drawn.
    const isWritten = written?.code_hash === deps.secrets.mac('one_time_code', payment.id, text.code);
    if (isWritten) await sendCode(deps, payment, merchant, text);
  } catch (error) {
    rethrowUnlessTransient(error);
    deps.log.warn('code_not_sent', { transaction_id: payment.id, reason: 'whether it counts could not be read' });
  }
}
