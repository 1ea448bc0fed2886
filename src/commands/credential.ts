/**
 * `mbongo credential`: issues, rotates, revokes and lists a merchant's credentials.
 */

import { statusAt } from '../domain/credential.ts';
import { shardOf } from '../domain/ids.ts';
import type { Credential } from '../domain/records.ts';
import { issueCredential } from '../usecases/credential-issue.ts';
import { revokeCredential } from '../usecases/credential-revoke.ts';
import { rotateCredential } from '../usecases/credential-rotate.ts';
import { readAfter } from '../usecases/operator-commit.ts';
import { requireMerchant } from '../usecases/operator-input.ts';
import { readDuration, readNetworks } from './options.ts';
import { type Output, table, timeOf } from './output.ts';
import { tableOf } from './payout-table.ts';
import type { Tools } from './tools.ts';

const ONCE = 'The secret is shown only this once: keep it on your backend.';

/**
 * Issues a further credential: `{merchant_id, key_id, secret}`. The secret is shown only this once. `addresses`: the addresses and
 * networks it may be used from, between commas, or `any`.
 *
 * @throws OperatorError when there is no such merchant, or an address is malformed.
 */
export async function credentialIssue(
  { deps }: Tools,
  options: { readonly merchant: string; readonly addresses: string },
): Promise<Output> {
  const made = await issueCredential(deps, options.merchant, readNetworks(options.addresses));
  return { document: { ...made }, lines: [`credential  ${made.key_id}:${made.secret}`, ONCE] };
}

/**
 * Replaces a credential: the new one's `merchant_id`, `key_id` and `secret`, which is shown only this once, with `old_key_id` and
 * `old_retires_at`; null: the old one is no longer accepted. `grace`: 0 to 30 days.
 *
 * @throws OperatorError when the credential has been replaced or revoked, or the grace is not usable.
 */
export async function credentialRotate(
  { deps }: Tools,
  options: { readonly key: string; readonly grace: string },
): Promise<Output> {
  const made = await rotateCredential(deps, options.key, readDuration(options.grace, ', or 0'));
  const old_retires_at = timeOf(made.old_retires_at);
  const until = old_retires_at === null ? 'is no longer accepted' : `is accepted until ${old_retires_at}`;
  return {
    document: { ...made, old_retires_at },
    lines: [`credential  ${made.key_id}:${made.secret}`, `${made.old_key_id} ${until}.`, ONCE],
  };
}

/**
 * Revokes a credential and the sessions that it minted, at once. The document is the credential, with at most `MAX_GOING` payouts
 * that it made and that go on, whether there are more (`more_payouts`), and how many go on of an unknown credential
 * (`unknown_count`).
 *
 * @throws OperatorError when there is no such credential.
 */
export async function credentialRevoke({ deps }: Tools, options: { readonly key: string }): Promise<Output> {
  const credential = await revokeCredential(deps, options.key);
  const { id, merchant_id: merchantId } = credential;
  const look = `\`mbongo payout list --credential ${id}\``;
  const { going, payouts, lines, unknown } = await readAfter(
    deps,
    () => goingOf({ deps }, merchantId, id),
    `see ${look}`,
  );
  const more = going.length > MAX_GOING ? [`… and more: see ${look}`] : [];
  const told = [
    '',
    'Payouts that were made with it go on. If it has leaked, pause or cancel those that the merchant does not know,',
    'with `mbongo payout pause` and `mbongo payout cancel`:',
    ...lines,
    ...more,
  ];
  return {
    document: {
      ...documentOf(credential, deps.clock.now()),
      payouts,
      more_payouts: more.length > 0,
      unknown_count: unknown,
    },
    lines: [
      `${id} is revoked, and with it every session that it minted.`,
      ...(payouts.length === 0 ? [] : told),
      ...(unknown === 0
        ? []
        : [
            `Payouts that go on, of which it is not known which credential made them: ${unknown}. See \`mbongo payout list --merchant ${merchantId}\`.`,
          ]),
    ],
  };
}

/** The merchant's batches that go on and were made with that credential, and how many go on of which that is not known. */
async function goingOf({ deps }: Tools, merchantId: string, credentialId: string) {
  const merchant = { shard: shardOf(merchantId), id: merchantId };
  const all = await deps.store.payoutBatch.going(merchant, credentialId, MAX_COUNTED);
  const going = all.filter((batch) => batch.credential_id === credentialId);
  const unknown = all.filter((batch) => batch.credential_id === null).length;
  return { going, unknown, ...(await tableOf({ deps }, going.slice(0, MAX_GOING))) };
}

/** How many batches that go on are listed when a credential is revoked, and how many are counted. */
const MAX_GOING = 50;
const MAX_COUNTED = 500;

/**
 * A merchant's credentials without their secrets, as `{credentials}`, each with the status that counts now.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function credentialList({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  const { id } = await requireMerchant(deps, options.merchant);
  const now = deps.clock.now();
  const credentials = (await deps.store.credential.list(id)).map((credential) => documentOf(credential, now));
  const rows = credentials.map(({ key_id, status, created_at, retires_at, allowed_addresses }) => [
    key_id,
    status,
    created_at,
    retires_at ?? '',
    allowed_addresses?.join(',') ?? 'any',
  ]);
  return {
    document: { credentials },
    lines: table(['credential', 'status', 'made', 'accepted until', 'from addresses'], rows),
  };
}

/** A credential without its secret, of which only the digest is stored, with the status that counts now. */
function documentOf(credential: Credential, now: number) {
  const { id, merchant_id, retires_at, expires_at, allowed_addresses, created_at } = credential;
  return {
    key_id: id,
    merchant_id,
    status: statusAt(credential, now),
    retires_at: timeOf(retires_at),
    expires_at: timeOf(expires_at),
    allowed_addresses,
    created_at: timeOf(created_at),
  };
}
