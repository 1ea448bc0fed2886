/**
 * Issues a further credential, so that a merchant's systems can have one each.
 */

import { makeCredential } from './credential-make.ts';
import type { OperatorDeps } from './deps.ts';
import { commitOnce } from './operator-commit.ts';
import { requireMerchant } from './operator-input.ts';

/** The secret is shown only this once. */
export interface CredentialIssued {
  readonly merchant_id: string;
  readonly key_id: string;
  readonly secret: string;
}

/** `addresses`: the caller addresses or networks it may be used from; null for any. */
export async function issueCredential(
  deps: OperatorDeps,
  merchantId: string,
  addresses: readonly string[] | null,
): Promise<CredentialIssued> {
  const merchant = await requireMerchant(deps, merchantId);
  const { credential, secret } = makeCredential(deps, merchant.shard, merchant.id, addresses);
  const change = { claims: [{ table: 'credential' as const, row: credential }] };
  const advice = `see \`mbongo credential list --merchant ${merchant.id}\``;
  if ((await commitOnce(deps, merchant.shard, credential.id, change, advice)) === 'lost')
    throw new Error('a fresh id was taken');
  return { merchant_id: merchant.id, key_id: credential.id, secret };
}
