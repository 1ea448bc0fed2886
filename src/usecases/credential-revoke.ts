/**
 * Revokes a credential at once: neither it nor any session minted with it is accepted from then on.
 */

import type { Credential } from '../domain/records.ts';
import { requireCredential } from './credential-rotate.ts';
import { commitDecisionKnown, type OperatorDeps } from './operator.ts';

/** @throws OperatorError when there is no such credential. Revoking it again changes nothing. */
export function revokeCredential(deps: OperatorDeps, keyId: string): Promise<Credential> {
  return commitDecisionKnown(
    deps,
    () => requireCredential(deps, keyId),
    (credential) => {
      if (credential.status === 'REVOKED') return { answer: credential };
      const { shard, id, version } = credential;
      const row = { status: 'REVOKED', retires_at: null } as const;
      return {
        change: { updates: [{ table: 'credential', shard, id, version, row }] },
        answer: { ...credential, ...row, version: version + 1 },
      };
    },
    'revoke it again',
  );
}
