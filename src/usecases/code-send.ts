/**
 * Sends a one-time code to the customer's phone, after it has been committed.
 *
 * Invariant: the code is in no log. Whether the text arrived is not known for certain; the customer asks for another.
 */

import { formatMinor } from '../domain/money.ts';
import { CODE_LIFE_MS } from '../domain/one-time-code.ts';
import type { Merchant, Payment } from '../domain/records.ts';
import type { PaymentSubmitCommand } from '../domain/submission.ts';
import type { Deps } from './deps.ts';

interface CodeText extends Pick<PaymentSubmitCommand, 'language'> {
  readonly phone: string;
  readonly code: string;
}

/**
 * Sends the code to `phone`, in the language that its customer reads. What fails is logged and not thrown: the customer asks for another
 * one (resend-otp, contract §4).
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
    // What the customer agrees to is what is taken, not the amount before the fee.
    amount: formatMinor(payment.total_minor, payment.currency),
    currency: payment.currency.toUpperCase(),
    merchant: merchant.name,
    minutes: CODE_LIFE_MS / 60_000,
  });
  const outcome = await sender.sendText({ to: phone, text });
  if (outcome !== 'sent') deps.log.warn('code_not_sent', { transaction_id: payment.id, reason: outcome });
}
