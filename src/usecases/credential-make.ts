/**
 * Makes a merchant's secrets: 256 bits each, shown once.
 *
 * Invariant: only the digest of a credential's secret is kept; a webhook secret is kept sealed, because it must be
 * recovered to sign (contract §1, §6).
 */

import type { Credential } from '../domain/records.ts';
import type { WebhookSecret } from '../domain/webhook-records.ts';
import { newId, type OperatorDeps } from './deps.ts';
import { sealWebhookSecret } from './webhook-sign.ts';

const SECRET_BYTES = 32;

/** Makes a credential, and its secret in the clear. */
export function makeCredential(
  deps: OperatorDeps,
  shard: number,
  merchantId: string,
  addresses: readonly string[] | null = null,
): { readonly credential: Credential; readonly secret: string } {
  const prefix = deps.mode === 'production' ? 'sk_live_' : 'sk_test_';
  const secret = prefix + Buffer.from(deps.random.bytes(SECRET_BYTES)).toString('base64url');
  const credential: Credential = {
    shard,
    id: newId(deps, 'key', shard),
    version: 1,
    merchant_id: merchantId,
    secret_hash: deps.secrets.digest(secret),
    status: 'ALLOWED',
    retires_at: null,
    expires_at: null,
    allowed_addresses: addresses,
    created_at: deps.clock.now(),
  };
  return { credential, secret };
}

/** Makes a webhook secret, sealed in its row, and in the clear. */
export function makeWebhookSecret(
  deps: OperatorDeps,
  shard: number,
  merchantId: string,
): { readonly row: WebhookSecret; readonly secret: string } {
  const secret = `whsec_${Buffer.from(deps.random.bytes(SECRET_BYTES)).toString('base64')}`;
  const id = newId(deps, 'whs', shard);
  const row: WebhookSecret = {
    shard,
    id,
    version: 1,
    merchant_id: merchantId,
    sealed: sealWebhookSecret(deps, { id, merchant_id: merchantId }, secret),
    status: 'ALLOWED',
    retires_at: null,
    created_at: deps.clock.now(),
  };
  return { row, secret };
}
