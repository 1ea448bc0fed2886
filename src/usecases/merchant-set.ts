/**
 * Changes a merchant's settings: those named change, the rest stays.
 *
 * Invariant: whatever is stored is usable as it is: amounts are whole minor units, a minimum is not above its maximum, hosts
 * are plain names.
 */

import { revise } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { shardOf } from '../domain/ids.ts';
import { PAYMENT_METHODS } from '../domain/payment.ts';
import type {
  AmountLimits,
  DeliveryBehaviour,
  FeeCoveredBy,
  Merchant,
  MerchantSettings,
  PaymentMethod,
} from '../domain/records.ts';
import { LIMIT_NAMES, mostCalls } from '../domain/traffic-limit.ts';
import type { OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { UsageError } from './operator-error.ts';
import { requireId, requireMerchant } from './operator-input.ts';

/** The settings to change. `null` resets a setting to its default. Amounts are minor units. */
export interface MerchantSettingsChange {
  readonly currencies?: readonly Currency[] | null;
  readonly scope_required?: boolean;
  readonly url_hosts?: readonly string[] | null;
  readonly fee_covered_by?: FeeCoveredBy | null;
  readonly delivery_behaviour?: DeliveryBehaviour | null;
  /** By currency; an undefined `min` or `max` means no limit on that side; `null` removes the currency's limits. */
  readonly limits?: ReadonlyMap<Currency, { readonly min?: bigint; readonly max?: bigint } | null>;
  /** Limits of single methods, in addition to `limits`; a currency that is not named stays as it is. */
  readonly method_limits?: ReadonlyMap<PaymentMethod, NonNullable<MerchantSettingsChange['limits']>>;
  /** The methods that its customers may choose. */
  readonly methods?: readonly PaymentMethod[] | null;
  /** From which amount a wallet payment asks for a one-time code; `null`: the default. */
  readonly code_thresholds?: ReadonlyMap<Currency, bigint | null>;
  /** The hour (0 to 23) at which dated payouts run. */
  readonly payout_hour?: number | null;
  /** The time zone of that hour: a name that the calendar knows. */
  readonly payout_time_zone?: string | null;
  /** From which total a payout waits for an operator's approval; `null`: none does. */
  readonly payout_approval_from?: ReadonlyMap<Currency, bigint | null>;
  /** Calls per window, by the name of a limit (`domain/traffic-limit.ts`); `null`: the default. */
  readonly rate_limits?: ReadonlyMap<string, number | null>;
}

/** @throws OperatorError when there is no such merchant, or a value is not usable. */
export async function setMerchant(
  deps: OperatorDeps,
  merchantId: string,
  wanted: MerchantSettingsChange,
): Promise<Merchant> {
  requireUsable(wanted);
  return changeSettings(deps, merchantId, (settings) => ({
    ...settings,
    ...replaced('currencies', wanted.currencies),
    ...replaced('scope_required', wanted.scope_required),
    ...replaced('url_hosts', wanted.url_hosts?.map((host) => host.toLowerCase()) ?? wanted.url_hosts),
    ...replaced('fee_covered_by', wanted.fee_covered_by),
    ...replaced('delivery_behaviour', wanted.delivery_behaviour),
    ...replaced('methods', wanted.methods && PAYMENT_METHODS.filter((method) => wanted.methods?.includes(method))),
    ...merged('limits', settings.limits, wanted.limits, limitRow),
    ...mergedByMethod(settings.method_limits, wanted.method_limits),
    ...merged('code_thresholds', settings.code_thresholds, wanted.code_thresholds, (minor) => minor.toString()),
    ...replaced('payout_hour', wanted.payout_hour),
    ...replaced('payout_time_zone', wanted.payout_time_zone),
    ...merged('payout_approval_from', settings.payout_approval_from, wanted.payout_approval_from, (minor) =>
      minor.toString(),
    ),
    ...merged('rate_limits', settings.rate_limits, wanted.rate_limits, (count) => count),
  }));
}

/**
 * Writes what `change` makes of a merchant's settings, once, applied again to fresh rows until the change commits; undefined: they
 * stay as they are.
 */
export async function changeSettings(
  deps: OperatorDeps,
  merchantId: string,
  change: (settings: MerchantSettings) => { readonly [name: string]: unknown } | undefined,
): Promise<Merchant> {
  requireId('mch', merchantId, 'merchant');
  return decideOnce(deps, shardOf(merchantId), 'see `mbongo merchant list`', async () => {
    const merchant = await requireMerchant(deps, merchantId);
    const changed = change(merchant.settings);
    if (changed === undefined) return { answer: merchant };
    const { update, after } = revise('merchant', merchant, { settings: withoutNulls(changed) });
    return { change: { updates: [update] }, answer: after };
  });
}

function requireUsable(wanted: MerchantSettingsChange): void {
  if (wanted.currencies?.length === 0) throw new UsageError('a merchant needs at least one currency');
  if (wanted.methods?.length === 0) throw new UsageError('a merchant needs at least one payment method');
  const byMethod = [...(wanted.method_limits?.values() ?? [])].flatMap((limits) => [...limits]);
  for (const [currency, limit] of [...(wanted.limits ?? []), ...byMethod]) {
    if (limit?.min !== undefined && limit.max !== undefined && limit.min > limit.max) {
      throw new UsageError(`the smallest amount in ${currency} is above the largest`);
    }
  }
  // An empty list would allow no host; the operator must have meant another list, or all hosts.
  if (wanted.url_hosts?.length === 0) throw new UsageError('name at least one host, like shop.example; or any');
  for (const host of wanted.url_hosts ?? []) requireHost(host);
  for (const [name, count] of wanted.rate_limits ?? []) requireCount(name, count);
}

function requireHost(host: string): void {
  if (host.includes('*')) throw new UsageError(`${JSON.stringify(host)} contains a wildcard: name each host in full`);
  if (!URL.canParse(`https://${host}/`) || new URL(`https://${host}/`).hostname !== host.toLowerCase()) {
    throw new UsageError(`${JSON.stringify(host)} is not a host name: write it like shop.example`);
  }
}

function requireCount(name: string, count: number | null): void {
  const most = requireLimit(name);
  if (count !== null && (!Number.isSafeInteger(count) || count < 1 || count > most)) {
    throw new UsageError(`the limit ${JSON.stringify(name)} must be a whole number from 1 to ${most}`);
  }
}

/** The highest value that a merchant's limit of that name can be set to. @throws UsageError when there is no such limit. */
export function requireLimit(name: string): number {
  const most = mostCalls(name);
  if (most !== undefined) return most;
  throw new UsageError(`there is no limit ${JSON.stringify(name)}: use one of ${LIMIT_NAMES.join(', ')}`);
}

function limitRow(limit: { readonly min?: bigint; readonly max?: bigint }): NonNullable<AmountLimits[Currency]> {
  return {
    ...(limit.min === undefined ? {} : { min: limit.min.toString() }),
    ...(limit.max === undefined ? {} : { max: limit.max.toString() }),
  };
}

function mergedByMethod(
  before: MerchantSettings['method_limits'],
  wanted: MerchantSettingsChange['method_limits'],
): { readonly [name: string]: unknown } {
  if (wanted === undefined) return {};
  const after: { [method: string]: unknown } = { ...before };
  for (const [method, limits] of wanted) {
    const { limits: row = {} } = merged('limits', before?.[method], limits, limitRow);
    if (Object.keys(row as object).length === 0) delete after[method];
    else after[method] = row;
  }
  return { method_limits: after };
}

function replaced(name: keyof MerchantSettings, value: unknown): { readonly [name: string]: unknown } {
  return value === undefined ? {} : { [name]: value };
}

function merged<V, W>(
  name: keyof MerchantSettings,
  before: { readonly [key: string]: W } | undefined,
  wanted: ReadonlyMap<string, V | null> | undefined,
  write: (value: V) => W,
): { readonly [name: string]: unknown } {
  if (wanted === undefined) return {};
  const after: { [key: string]: W } = { ...before };
  for (const [key, value] of wanted) {
    if (value === null) delete after[key];
    else after[key] = write(value);
  }
  return { [name]: after };
}

/** A setting that is null is at its default, and is not stored. */
function withoutNulls(settings: { readonly [name: string]: unknown }): MerchantSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null && value !== undefined));
}
