/**
 * Revokes a credential at once: neither it nor any session minted with it is accepted from then on.
 */

import { revise } from '../domain/change.ts';
import type { Credential } from '../domain/records.ts';
import { requireCredential } from './credential-rotate.ts';
import type { OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';

/** @throws OperatorError when there is no such credential. Revoking it again changes nothing. */
export function revokeCredential(deps: OperatorDeps, keyId: string): Promise<Credential> {
  return commitDecisionKnown(
    deps,
    () => requireCredential(deps, keyId),
    (credential) => {
      if (credential.status === 'REVOKED') return { answer: credential };
      const { update, after } = revise('credential', credential, { status: 'REVOKED', retires_at: null });
      return { change: { updates: [update] }, answer: after };
    },
    'revoke it again',
  );
}
