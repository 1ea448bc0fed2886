/**
 * Sets how the hosted page shows a merchant: its colour and its logo.
 *
 * Invariant: a logo's version only ever rises, so that browsers may cache each version for ever; the page shows the version
 * that the settings name, and no logo if they name none.
 */

import { type Claim, guardedUpdate, revise, type Update } from '../domain/change.ts';
import { judgeLogo, MAX_LOGO_BYTES } from '../domain/file-type.ts';
import { shardOf } from '../domain/ids.ts';
import type { MerchantLogo } from '../domain/page-records.ts';
import type { Merchant, MerchantBrand } from '../domain/records.ts';
import type { OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requireId, requireMerchant } from './operator-input.ts';

export interface MerchantBrandChange {
  /** `#rrggbb`; `null`: the default. */
  readonly colour?: string | null;
  /** The content of a picture file; `null` removes the logo. */
  readonly logo?: Uint8Array | null;
}

/** @throws OperatorError when there is no such merchant, or the colour or picture is not usable. */
export async function setBrand(deps: OperatorDeps, merchantId: string, wanted: MerchantBrandChange): Promise<Merchant> {
  const colour = wanted.colour === undefined || wanted.colour === null ? wanted.colour : requireColour(wanted.colour);
  const logo = wanted.logo === undefined || wanted.logo === null ? wanted.logo : requireLogo(wanted.logo);
  requireId('mch', merchantId, 'merchant');
  return decideOnce(deps, shardOf(merchantId), 'see `mbongo merchant list`', async () => {
    const merchant = await requireMerchant(deps, merchantId);
    const before = logo && (await deps.store.merchantLogo.get(merchant.shard, merchant.id));
    const versionAfter = (before?.version ?? 0) + 1;
    const brand = brandOf(merchant.settings.brand ?? {}, colour, logo && versionAfter);
    const settings = { ...merchant.settings, brand };
    const kept = logo ? logoWrites(merchant, before ?? undefined, logo, deps.clock.now()) : undefined;
    const { update, after } = revise('merchant', merchant, { settings });
    return {
      change: { updates: [update, ...(kept?.updates ?? [])], claims: kept?.claims ?? [] },
      answer: after,
    };
  });
}

function brandOf(
  before: MerchantBrand,
  colour: string | null | undefined,
  logo: number | null | undefined,
): MerchantBrand {
  const { colour: oldColour, logo: oldLogo } = before;
  const [newColour, newLogo] = [colour === undefined ? oldColour : colour, logo === undefined ? oldLogo : logo];
  return {
    ...(newColour === null || newColour === undefined ? {} : { colour: newColour }),
    ...(newLogo === null || newLogo === undefined ? {} : { logo: newLogo }),
  };
}

type Logo = Pick<MerchantLogo, 'content_type' | 'content'>;

/** The row stays when a merchant's logo is removed, so that its version keeps rising. */
function logoWrites(
  { shard, id }: Merchant,
  before: MerchantLogo | undefined,
  logo: Logo,
  now: number,
): { readonly updates: readonly Update[]; readonly claims: readonly Claim[] } {
  const row = { ...logo, created_at: now };
  if (before === undefined) {
    return { updates: [], claims: [{ table: 'merchant_logo', row: { shard, id, version: 1, ...row } }] };
  }
  return { updates: [guardedUpdate('merchant_logo', before, row)], claims: [] };
}

function requireColour(text: string): string {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  throw new UsageError(`${JSON.stringify(text)} is not a colour: write it like #0b6e4f`);
}

function requireLogo(bytes: Uint8Array): Logo {
  if (bytes.length > MAX_LOGO_BYTES) throw new OperatorError('the logo is too large: the file may have at most 64 KiB');
  const verdict = judgeLogo(bytes);
  if (verdict.kind === 'file') {
    return { content_type: verdict.type, content: Buffer.from(verdict.bytes).toString('base64') };
  }
  const why =
    verdict.fault === 'FILE_UNSAFE'
      ? 'is damaged, has more than 4 megapixels, or holds more than a picture'
      : 'is something else';
  throw new OperatorError(`the logo must be a PNG, JPEG or WebP picture: the file ${why}`);
}
