/**
 * Mints a session: a short-lived token that binds an amount, a currency and a customer reference.
 *
 * Invariant: the token leaves in clear exactly once; kept is its SHA-256. The session's own id is the claim that lets
 * an ambiguous commit be decided again.
 */

import { isCurrency } from '../domain/currency.ts';
import { parseAmount } from '../domain/money.ts';
import type { Session, SessionScope } from '../domain/records.ts';
import { Refusal, type RefusalDetail, refuseField } from '../domain/refusal.ts';
import { TTL_DEFAULT, TTL_MAX, TTL_MIN } from '../domain/session.ts';
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

export interface SessionCreated {
  readonly session: Session;
  readonly token: string;
}

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
    expires_at: now + (command.ttl_seconds ?? TTL_DEFAULT) * 1000,
  };
  return perform(
    deps.store,
    answering,
    () => Promise.resolve(undefined),
    () => ({ change: { claims: [{ table: 'session', row: session }] }, answer: { session, token } }),
  );
}

/** Every bad field at once; the first in field order names the refusal (contract §2). */
function requireBinding(deps: Deps, caller: MerchantCaller, command: SessionCreateCommand) {
  const { settings } = caller.merchant;
  const details: RefusalDetail[] = [];
  const currency = isCurrency(command.currency) ? command.currency : undefined;
  // The amount's form depends on the currency; where that is unknown, the widest form is checked.
  const amount = parseAmount(command.amount, currency ?? 'usd');
  if (amount === undefined) details.push({ field: 'amount', code: 'INVALID_AMOUNT' });
  if (currency === undefined) details.push({ field: 'currency', code: 'INVALID_CURRENCY' });
  else if (settings.currencies !== undefined && !settings.currencies.includes(currency)) {
    const currencies = settings.currencies.join(', ');
    details.push({ field: 'currency', code: 'CURRENCY_NOT_ALLOWED', words: { currencies } });
  }
  const ttl = command.ttl_seconds ?? TTL_DEFAULT;
  const minimum = TTL_MIN[deps.mode];
  if (ttl < minimum || ttl > TTL_MAX) {
    details.push({ field: 'ttl_seconds', code: 'OUT_OF_RANGE', words: { minimum, maximum: TTL_MAX } });
  }
  const [first] = details;
  if (first !== undefined) throw new Refusal(CODE_OF_FIELD[first.field] ?? 1110, { details });
  if (settings.scope_required === true && (command.scope ?? null) === null) {
    throw refuseField(1109, 'scope', 'SCOPE_MISSING');
  }
  if (amount === undefined || currency === undefined) throw new Error('the binding was checked above');
  return amount;
}

const CODE_OF_FIELD: { readonly [field: string]: 1101 | 1102 | 1110 } = { amount: 1101, currency: 1102 };
