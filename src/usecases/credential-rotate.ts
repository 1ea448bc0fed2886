/**
 * Replaces a credential: the new one is valid at once, the old one until its grace period is over.
 *
 * Invariant: both change in one commit; a credential is rotated once, however many commands run at the same time.
 */

import { guardedUpdate } from '../domain/change.ts';
import { shardOf } from '../domain/ids.ts';
import type { Credential } from '../domain/records.ts';
import type { CredentialIssued } from './credential-issue.ts';
import { makeCredential } from './credential-make.ts';
import type { OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireGrace, requireId } from './operator-input.ts';

/** The secret is shown only this once. */
export interface CredentialRotated extends CredentialIssued {
  readonly old_key_id: string;
  /** Until when the old one is accepted; null when it no longer is. */
  readonly old_retires_at: number | null;
}

/** `graceMs` of 0 revokes the old one at once. @throws OperatorError when it is not ALLOWED any more. */
export async function rotateCredential(deps: OperatorDeps, keyId: string, graceMs: number): Promise<CredentialRotated> {
  requireGrace(graceMs);
  const old = await requireCredential(deps, keyId);
  const { credential, secret } = makeCredential(deps, old.shard, old.merchant_id, old.allowed_addresses);
  const retires_at = graceMs === 0 ? null : deps.clock.now() + graceMs;
  const answer = {
    merchant_id: old.merchant_id,
    key_id: credential.id,
    secret,
    old_key_id: old.id,
    old_retires_at: retires_at,
  };
  const { caller } = deps.store.credential;
  return commitDecisionKnown(
    deps,
    async () => {
      // Read in this order: if our commit shows in the old credential, it shows in the new one too.
      const current = await requireCredential(deps, keyId);
      return { current, made: await caller(credential.shard, credential.id) };
    },
    ({ current, made }) => {
      // Our new credential exists: the commit won, and only its outcome was lost.
      if (made !== undefined) return { answer };
      if (current.status !== 'ALLOWED') throw rotatedBefore(current);
      const row = { status: retires_at === null ? 'REVOKED' : 'RETIRING', retires_at } as const;
      return {
        change: {
          updates: [guardedUpdate('credential', current, row)],
          claims: [{ table: 'credential', row: credential }],
        },
        answer,
      };
    },
    `see \`mbongo credential list --merchant ${old.merchant_id}\``,
  );
}

function rotatedBefore({ id, status, merchant_id }: Credential): OperatorError {
  const another = `\`mbongo credential issue --merchant ${merchant_id}\` makes another one`;
  const wayOut =
    status === 'RETIRING' ? `${another}; if this one has leaked, \`mbongo credential revoke\` ends it` : another;
  return new OperatorError(`credential ${id} is ${status} already: ${wayOut}`);
}

/** The credential with that key id. @throws OperatorError when there is none. */
export async function requireCredential(deps: Pick<OperatorDeps, 'store'>, keyId: string): Promise<Credential> {
  requireId('key', keyId, 'key');
  const found = await deps.store.credential.caller(shardOf(keyId), keyId);
  if (found === undefined) throw new OperatorError(`there is no credential ${keyId}: see \`mbongo credential list\``);
  return found;
}
