/**
 * Sets the fee that a merchant pays for a method in a currency (contract §4). It applies to payments collected, and payouts
 * ordered, from then on.
 *
 * Invariant: for each currency a merchant has at most one rule for a method, and at most one for all other methods.
 */

import type { Currency } from '../domain/currency.ts';
import type { FeeRule, Merchant, MerchantSettings } from '../domain/records.ts';
import type { OperatorDeps } from './deps.ts';
import { changeSettings } from './merchant-set.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** What identifies one of a merchant's rules. */
export interface FeeRuleKey {
  readonly merchantId: string;
  /** Undefined: every payment method without a rule of its own, but not payouts. */
  readonly method: FeeRule['method'];
  readonly currency: Currency;
}

export interface FeeSetCommand extends FeeRuleKey {
  /** Percent, as decimal text with at most four fraction digits: `2.5`. */
  readonly rate: string;
  /** Minor units. */
  readonly fixed: bigint;
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

/** Sets the rule. A fee of zero is a rule too: it overrides the one for all payment methods. */
export async function setFee(deps: OperatorDeps, command: FeeSetCommand): Promise<Merchant> {
  const rule = ruleOf(command);
  return changeSettings(deps, command.merchantId, (settings) => ({
    ...settings,
    fees: [...rulesBeside(settings, command), rule],
  }));
}

/**
 * Removes a rule; the one for all payment methods, if there is one, applies from then on.
 *
 * @throws OperatorError when there is no such rule
 */
export async function removeFee(deps: OperatorDeps, command: FeeRuleKey): Promise<Merchant> {
  let wasThere = false;
  return changeSettings(deps, command.merchantId, (settings) => {
    const fees = rulesBeside(settings, command);
    const isThere = fees.length < (settings.fees ?? []).length;
    // Another command has removed it since.
    if (!isThere && wasThere) return undefined;
    wasThere = isThere;
    if (isThere) return { ...settings, fees };
    const what = `${command.method ?? 'every method'} in ${command.currency}`;
    throw new OperatorError(`there is no fee for ${what}: see \`mbongo fee list\``);
  });
}

function rulesBeside(settings: MerchantSettings, { method, currency }: FeeRuleKey): FeeRule[] {
  return (settings.fees ?? []).filter((other) => other.method !== method || other.currency !== currency);
}

function ruleOf(command: FeeSetCommand): FeeRule {
  const { method, currency, fixed, min, max } = command;
  const rate_ppm = readRate(command.rate);
  if (min !== undefined && max !== undefined && min > max) throw new UsageError('the minimum is above the maximum');
  return {
    ...(method === undefined ? {} : { method }),
    currency,
    rate_ppm,
    ...(fixed === 0n ? {} : { fixed_minor: fixed.toString() }),
    ...(min === undefined ? {} : { min_minor: min.toString() }),
    ...(max === undefined ? {} : { max_minor: max.toString() }),
  };
}

/** Percent as parts per million, exactly: `2.5` is 25000. */
function readRate(text: string): number {
  const match = /^(0|[1-9][0-9]{0,2})(?:\.([0-9]{1,4}))?$/.exec(text);
  const ppm = match === null ? undefined : Number(`${match[1]}${(match[2] ?? '').padEnd(4, '0')}`);
  if (ppm !== undefined && ppm <= 1_000_000) return ppm;
  throw new UsageError(
    `${JSON.stringify(text)} is not a rate: write a percentage from 0 to 100 with up to four decimals, like 2.5`,
  );
}
