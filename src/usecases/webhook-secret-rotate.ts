/**
 * Replaces a merchant's webhook secret: events are signed with both until the old one's grace period is over (contract §6).
 *
 * Invariant: at every moment at least one secret signs; guards on the old secrets serialise concurrent rotations.
 */

import { type Claim, guardedUpdate } from '../domain/change.ts';
import { makeWebhookSecret } from './credential-make.ts';
import type { OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { requireGrace, requireMerchant } from './operator-input.ts';

/** The secret is shown only this once. */
export interface WebhookSecretRotated {
  readonly merchant_id: string;
  readonly webhook_secret: string;
  /** Until when the old one signs too; null when it no longer does. */
  readonly old_retires_at: number | null;
}

/** A `graceMs` of 0 revokes the old secret at once. */
export async function rotateWebhookSecret(
  deps: OperatorDeps,
  merchantId: string,
  graceMs: number,
): Promise<WebhookSecretRotated> {
  requireGrace(graceMs);
  const merchant = await requireMerchant(deps, merchantId);
  const { row, secret } = makeWebhookSecret(deps, merchant.shard, merchant.id);
  const retires_at = graceMs === 0 ? null : deps.clock.now() + graceMs;
  const answer = { merchant_id: merchant.id, webhook_secret: secret, old_retires_at: retires_at };
  return commitDecisionKnown(
    deps,
    () => deps.store.webhookSecret.ofMerchant(merchant.shard, merchant.id),
    (secrets) => {
      // Our new secret exists: the commit won, and only its outcome was lost.
      if (secrets.some((other) => other.id === row.id)) return { answer };
      const retired = { status: retires_at === null ? 'REVOKED' : 'RETIRING', retires_at } as const;
      const updates = secrets
        .filter((old) => old.status === 'ALLOWED' || (old.status === 'RETIRING' && retires_at === null))
        .map((old) => guardedUpdate('webhook_secret', old, retired));
      const claims: Claim[] = [{ table: 'webhook_secret', row }];
      return { change: { updates, claims }, answer };
    },
    'rotate it again, for a secret that you have seen',
  );
}
