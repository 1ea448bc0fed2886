/**
 * `mbongo merchant`: makes, lists, shows, suspends, allows and configures merchants.
 */

import { open } from 'node:fs/promises';
import { type Currency, isCurrency } from '../domain/currency.ts';
import { MAX_LOGO_BYTES } from '../domain/file-type.ts';
import { formatMinor } from '../domain/money.ts';
import type { DeliveryBehaviour, FeeCoveredBy, Merchant, MerchantSettings } from '../domain/records.ts';
import { setBrand } from '../usecases/merchant-brand.ts';
import { createMerchant } from '../usecases/merchant-create.ts';
import { type MerchantSettingsChange, setMerchant } from '../usecases/merchant-set.ts';
import { setMerchantStatus } from '../usecases/merchant-status.ts';
import { OperatorError, UsageError } from '../usecases/operator-error.ts';
import { requireAmount, requireCurrency, requireId, requireMerchant } from '../usecases/operator-input.ts';
import {
  readAmounts,
  readCounts,
  readLimit,
  readLimits,
  readList,
  readMethodLimits,
  readWhole,
  requireMethod,
} from './options.ts';
import { endOfPage, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * Makes a merchant with a credential and a webhook secret: `{merchant_id, key_id, secret, webhook_secret}`. Both secrets are shown
 * only this once (contract §10). `float` false: no initial money and no bank accounts, which only a sandbox gives.
 *
 * @throws UsageError when the name is not one line that customers can read.
 */
export async function merchantCreate(
  { deps }: Tools,
  options: { readonly name: string; readonly float: boolean },
): Promise<Output> {
  const made = await createMerchant(deps, { name: options.name, noFloat: !options.float });
  const { key_id, secret, webhook_secret } = made;
  return {
    document: { merchant_id: made.merchant.id, key_id, secret, webhook_secret },
    lines: [
      `merchant        ${made.merchant.id}  ${made.merchant.name}`,
      `credential      ${key_id}:${secret}`,
      `webhook secret  ${webhook_secret}`,
      'The secrets are shown only this once: keep them on your backend.',
    ],
  };
}

/**
 * Merchants, the oldest first, as `{merchants, next}`; without a limit all of them. `next` is the id for --after; null: the page
 * was not full.
 *
 * @throws UsageError for a malformed id or limit.
 */
export async function merchantList(
  { deps }: Tools,
  options: { readonly after?: string; readonly limit?: string },
): Promise<Output> {
  const { after } = options;
  if (after !== undefined) requireId('mch', after, 'merchant');
  const limit = options.limit === undefined ? undefined : readLimit(options.limit);
  const merchants = await deps.store.merchant.list({ after, limit });
  const end = endOfPage(merchants, limit ?? Number.POSITIVE_INFINITY);
  const rows = merchants.map((merchant) => [merchant.id, merchant.status, merchant.name]);
  return {
    document: { merchants: merchants.map(documentOf), next: end.next },
    lines: [...table(['merchant', 'status', 'name'], rows), ...end.lines],
  };
}

/**
 * A merchant as `{merchant_id, name, status, settings, created_at}`, with the settings that were set, amounts in decimal text, and
 * without fees, which `feeList` has.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function merchantShow({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  const document = documentOf(await requireMerchant(deps, options.merchant));
  const { merchant_id, name, status, created_at, settings } = document;
  const shown = { merchant_id, name, status, created_at, ...inOrder(settings) };
  return {
    document,
    lines: Object.entries(shown).flatMap(([label, value]) => {
      const text = partsOf(value).join(',');
      return text === '' ? [] : [`${label.padEnd(20)}  ${text}`];
    }),
  };
}

/**
 * Has every call of a merchant refused from now on (contract §2, 1004), and returns the document of `merchantShow`.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function merchantSuspend({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  return outputOf(await setMerchantStatus(deps, options.merchant, 'SUSPENDED'));
}

/**
 * Ends a merchant's suspension, and returns the document of `merchantShow`.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function merchantAllow({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  return outputOf(await setMerchantStatus(deps, options.merchant, 'ALLOWED'));
}

/**
 * The options of `mbongo merchant set`, lists between commas. Undefined leaves a setting as it is; `all`, `any`, `none` or
 * `default`, whichever the help names for it, resets it.
 */
export interface MerchantSetOptions {
  readonly merchant: string;
  readonly currencies?: string;
  readonly limit?: string;
  readonly methodLimit?: string;
  readonly methods?: string;
  readonly codeThreshold?: string;
  readonly rateLimit?: string;
  readonly scopeRequired?: string;
  readonly feeCoveredBy?: FeeCoveredBy | 'any';
  readonly deliveryBehaviour?: DeliveryBehaviour | 'any';
  readonly urlHosts?: string;
}

/**
 * Changes the settings that are named, and returns the document of `merchantShow`.
 *
 * @throws UsageError when nothing is named or a value is malformed; OperatorError when there is no such merchant.
 */
export async function merchantSet({ deps }: Tools, options: MerchantSetOptions): Promise<Output> {
  const wanted = readChange(options);
  if (Object.keys(wanted).length === 0) throw new UsageError('nothing to set: see `mbongo merchant set --help`');
  return outputOf(await setMerchant(deps, options.merchant, wanted));
}

/**
 * The options of `mbongo merchant payouts` (contract §5). `approvalFrom` is the total of a batch, in `currency`, from which it
 * needs approval; `default` resets each but `currency`.
 */
export interface MerchantPayoutsOptions {
  readonly merchant: string;
  readonly hour?: string;
  readonly timeZone?: string;
  readonly approvalFrom?: string;
  readonly currency?: string;
}

/** Sets when payouts run and which need approval. Existing batches keep their hour, time zone and approval. */
export async function merchantPayouts({ deps }: Tools, options: MerchantPayoutsOptions): Promise<Output> {
  const { hour, timeZone, approvalFrom, currency } = options;
  if ((approvalFrom === undefined) !== (currency === undefined)) {
    throw new UsageError(
      '--approval-from and --currency belong together, for example --approval-from 500.00 --currency usd',
    );
  }
  if (hour === undefined && timeZone === undefined && approvalFrom === undefined) {
    throw new UsageError('nothing to set: see `mbongo merchant payouts --help`');
  }
  const merchant = await setMerchant(deps, options.merchant, {
    ...(hour === undefined ? {} : { payout_hour: hour === 'default' ? null : readWhole(hour, 'hour', 0, 23) }),
    ...(timeZone === undefined
      ? {}
      : { payout_time_zone: timeZone === 'default' ? null : await requireZone(timeZone) }),
    ...(approvalFrom === undefined || currency === undefined
      ? {}
      : { payout_approval_from: new Map([readApproval(approvalFrom, requireCurrency(currency))]) }),
  });
  return outputOf(merchant);
}

function readApproval(text: string, currency: Currency): readonly [Currency, bigint | null] {
  return [currency, text === 'default' ? null : requireAmount(text, currency)];
}

/** A time zone's name; the calendar is loaded for this check only. */
async function requireZone(text: string): Promise<string> {
  const { calendar } = await import('../platform/calendar.ts');
  if (calendar.isZone(text)) return text;
  throw new UsageError(`${JSON.stringify(text)} is not a time zone: write it like Africa/Kinshasa, or UTC`);
}

/** The options of `mbongo merchant brand`. `colour`: like `#0b6e4f`, or `default`. */
export interface MerchantBrandOptions {
  readonly merchant: string;
  readonly colour?: string;
  /** A file's path; false: `--no-logo`. */
  readonly logo?: string | false;
}

/**
 * Sets the colour and logo of a merchant's hosted page, and returns the document of `merchantShow`.
 *
 * @throws UsageError when nothing is to be set; OperatorError when the file cannot be read, or the colour or picture is not
 *   usable.
 */
export async function merchantBrand({ deps }: Tools, options: MerchantBrandOptions): Promise<Output> {
  const { colour, logo } = options;
  if (colour === undefined && logo === undefined) {
    throw new UsageError('nothing to set: add --colour, --logo or --no-logo');
  }
  const merchant = await setBrand(deps, options.merchant, {
    ...(colour === undefined ? {} : { colour: colour === 'default' ? null : colour }),
    ...(logo === undefined ? {} : { logo: logo === false ? null : await readLogo(logo) }),
  });
  return outputOf(merchant);
}

/** Reads a file, at most one byte more than a logo may have, which shows that it is too large. */
async function readLogo(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, 'r');
    try {
      const bytes = Buffer.alloc(MAX_LOGO_BYTES + 1);
      let size = 0;
      // A read may give less than there is.
      for (let read = -1; read !== 0 && size < bytes.length; size += read) {
        read = (await file.read(bytes, size)).bytesRead;
      }
      return bytes.subarray(0, size);
    } finally {
      await file.close();
    }
  } catch {
    throw new OperatorError(`${path} cannot be read: name a picture file that this user may read`);
  }
}

function readChange(options: MerchantSetOptions): MerchantSettingsChange {
  const { currencies, limit, methodLimit, methods, codeThreshold, rateLimit, scopeRequired, urlHosts } = options;
  const { feeCoveredBy, deliveryBehaviour } = options;
  return {
    ...(currencies === undefined
      ? {}
      : { currencies: readList(currencies, 'all')?.map((text) => requireCurrency(text)) ?? null }),
    ...(limit === undefined ? {} : { limits: readLimits(limit) }),
    ...(methodLimit === undefined ? {} : { method_limits: readMethodLimits(methodLimit) }),
    ...(methods === undefined ? {} : { methods: readList(methods, 'all')?.map((name) => requireMethod(name)) ?? null }),
    ...(codeThreshold === undefined ? {} : { code_thresholds: readAmounts(codeThreshold) }),
    ...(rateLimit === undefined ? {} : { rate_limits: readCounts(rateLimit) }),
    ...(scopeRequired === undefined ? {} : { scope_required: scopeRequired === 'on' }),
    ...(feeCoveredBy === undefined ? {} : { fee_covered_by: feeCoveredBy === 'any' ? null : feeCoveredBy }),
    ...(deliveryBehaviour === undefined
      ? {}
      : { delivery_behaviour: deliveryBehaviour === 'any' ? null : deliveryBehaviour }),
    ...(urlHosts === undefined ? {} : { url_hosts: readList(urlHosts, 'any') }),
  };
}

function outputOf(merchant: Merchant): Output {
  const document = documentOf(merchant);
  const settings = Object.entries(document.settings).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`);
  return { document, lines: [`${merchant.id}  ${merchant.status}  ${merchant.name}`, ...settings] };
}

function documentOf(merchant: Merchant) {
  const { id, name, status, settings, created_at } = merchant;
  return { merchant_id: id, name, status, settings: settingsOf(settings), created_at: timeOf(created_at) };
}

/** The settings, with amounts as decimal text. Fees are left out: `mbongo fee` shows them. */
function settingsOf(settings: MerchantSettings): { readonly [name: string]: unknown } {
  const { fees: _fees, limits, method_limits, code_thresholds, payout_approval_from, ...rest } = settings;
  return {
    ...rest,
    ...(limits === undefined ? {} : { limits: mapAmounts(limits) }),
    ...(method_limits === undefined ? {} : { method_limits: mapMethods(method_limits) }),
    ...(code_thresholds === undefined ? {} : { code_thresholds: mapAmounts(code_thresholds) }),
    ...(payout_approval_from === undefined ? {} : { payout_approval_from: mapAmounts(payout_approval_from) }),
  };
}

/** The settings in the order in which `merchant show` prints them. */
const SETTINGS = {
  currencies: true,
  limits: true,
  methods: true,
  method_limits: true,
  code_thresholds: true,
  rate_limits: true,
  scope_required: true,
  fee_covered_by: true,
  delivery_behaviour: true,
  url_hosts: true,
  payout_hour: true,
  payout_time_zone: true,
  payout_approval_from: true,
  brand: true,
} satisfies { readonly [name in Exclude<keyof MerchantSettings, 'fees'>]-?: true };

function inOrder(settings: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } {
  return Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, settings[name]]));
}

/** A setting as the options of `merchant set` write it: `usd:1.00-5000.00` for limits by currency. */
function partsOf(value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [value ? 'on' : 'off'];
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(partsOf);
  if ('min' in value || 'max' in value) {
    const { min, max }: { readonly min?: unknown; readonly max?: unknown } = value;
    return [[min, max].map((end) => partsOf(end).join('')).join('-')];
  }
  return Object.entries(value).flatMap(([name, inner]) => partsOf(inner).map((part) => `${name}:${part}`));
}

function mapMethods(byMethod: NonNullable<MerchantSettings['method_limits']>): { readonly [method: string]: unknown } {
  return Object.fromEntries(Object.entries(byMethod).map(([method, limits]) => [method, mapAmounts(limits)]));
}

function mapAmounts(byCurrency: { readonly [currency: string]: unknown }): { readonly [currency: string]: unknown } {
  const entries = Object.entries(byCurrency).map(([currency, value]) => [currency, amountsOf(currency, value)]);
  return Object.fromEntries(entries);
}

function amountsOf(currency: string, value: unknown): unknown {
  if (typeof value === 'string') return isCurrency(currency) ? formatMinor(BigInt(value), currency) : value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([end, minor]) => [end, amountsOf(currency, minor)]));
}
