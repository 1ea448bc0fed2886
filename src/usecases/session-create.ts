/**
 * Mints a session: a short-lived token that binds an amount, a currency and a customer reference.
 *
 * Invariant: the token is sent in clear exactly once; only its SHA-256 is kept. The session's own id is the claim that makes it
 * safe to repeat a commit whose outcome is unknown.
 */

import { isCurrency } from '../domain/currency.ts';
import { currencyFault } from '../domain/merchant-currency.ts';
import { parseAmount } from '../domain/money.ts';
import type { Session, SessionScope } from '../domain/records.ts';
import { Refusal, type RefusalDetail } from '../domain/refusal.ts';
import { isReferenceText, MAX_TTL_S, MIN_TTL_S, TTL_DEFAULT_S } from '../domain/session.ts';
import { makeSessionToken } from '../domain/session-token.ts';
import type { MerchantCaller } from './callers.ts';
import { type Deps, newId } from './deps.ts';
import { type Answering, perform, type Reply } from './perform.ts';

export interface SessionCreateCommand {
  readonly amount: string;
  readonly currency: string;
  readonly customer_reference: string;
  readonly ttl_seconds?: number | null;
  readonly scope?: SessionScope | null;
}

/** The new session, and its token in clear. */
export interface SessionCreated {
  readonly session: Session;
  readonly token: string;
}

/**
 * Mints a session for a merchant's backend (specification, Endpoints; contract §3). Only the answer holds the token in clear.
 * It is accepted until `expires_at` (milliseconds): by default, half an hour from now.
 *
 * @throws Refusal 1101, 1102, 1109 or 1110 for wrong fields, all of them named.
 */
export function createSession(
  deps: Deps,
  caller: MerchantCaller,
  command: SessionCreateCommand,
  answering: Answering<SessionCreated>,
): Promise<Reply> {
  const bound = requireBinding(deps, caller, command);
  const { merchant } = caller;
  const now = deps.clock.now();
  const id = newId(deps, 'ses', merchant.shard);
  const token = makeSessionToken(id, Buffer.from(deps.random.bytes(32)).toString('base64url'));
  const session: Session = {
    shard: merchant.shard,
    id,
    version: 1,
    merchant_id: merchant.id,
    credential_id: caller.credentialId,
    token_hash: deps.secrets.digest(token),
    status: 'ACTIVE',
    amount: command.amount,
    amount_minor: bound.minor,
    currency: bound.currency,
    customer_reference: command.customer_reference,
    scope: command.scope ?? null,
    device_fingerprint: null,
    payments: 0,
    submitting_payment_id: null,
    issued_at: now,
    expires_at: now + (command.ttl_seconds ?? TTL_DEFAULT_S) * 1000,
  };
  return perform(
    deps.store,
    answering,
    () => Promise.resolve(undefined),
    () => ({ change: { claims: [{ table: 'session', row: session }] }, answer: { session, token } }),
  );
}

/**
 * The amount to bind, and its currency.
 *
 * @throws Refusal 1101, 1102, 1109 or 1110 with all of `sessionFaults`. The route checks these itself, together with the body's
 * form; here they are checked for other callers.
 */
function requireBinding(deps: Deps, caller: MerchantCaller, command: SessionCreateCommand) {
  const details = sessionFaults(deps, caller, command);
  const [first] = details;
  if (first !== undefined) throw new Refusal(CODE_OF_FIELD[first.field] ?? 1110, { details });
  const amount = isCurrency(command.currency) ? parseAmount(command.amount, command.currency) : undefined;
  if (amount === undefined) throw new Error('the binding was checked above');
  return amount;
}

/** What is wrong with the fields that were sent, in field order. */
export function sessionFaults(
  deps: Pick<Deps, 'mode'>,
  { merchant }: MerchantCaller,
  fields: Partial<SessionCreateCommand>,
): RefusalDetail[] {
  const { settings } = merchant;
  const details: RefusalDetail[] = [];
  const currency = fields.currency !== undefined && isCurrency(fields.currency) ? fields.currency : undefined;
  // The amount's form depends on the currency; if that is unknown, the most permissive form is checked.
  if (fields.amount !== undefined && parseAmount(fields.amount, currency ?? 'usd') === undefined) {
    details.push({ field: 'amount', code: 'INVALID_AMOUNT' });
  }
  const wrong = currencyFault('currency', fields.currency, merchant);
  if (wrong !== undefined) details.push(wrong);
  if (fields.customer_reference !== undefined && !isReferenceText(fields.customer_reference)) {
    details.push({ field: 'customer_reference', code: 'INVALID_TEXT' });
  }
  const ttl = fields.ttl_seconds ?? TTL_DEFAULT_S;
  const minimum = MIN_TTL_S[deps.mode];
  if (ttl < minimum || ttl > MAX_TTL_S) {
    details.push({ field: 'ttl_seconds', code: 'OUT_OF_RANGE', words: { minimum, maximum: MAX_TTL_S } });
  }
  if (settings.scope_required === true && (fields.scope ?? null) === null) {
    details.push({ field: 'scope', code: 'SCOPE_MISSING' });
  }
  return details;
}

const CODE_OF_FIELD: { readonly [field: string]: 1101 | 1102 | 1109 | 1110 } = {
  amount: 1101,
  currency: 1102,
  scope: 1109,
};
