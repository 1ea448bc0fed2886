/**
 * Sets what a merchant pays for a method in a currency (contract §4). It counts for payments collected from then on.
 *
 * Invariant: a merchant has at most one rule for a method and currency, and at most one for all other methods.
 */

import type { Currency } from '../domain/currency.ts';
import type { FeeRule, Merchant, PaymentMethod } from '../domain/records.ts';
import { changeSettings } from './merchant-set.ts';
import { type OperatorDeps, OperatorError } from './operator.ts';

export interface FeeSetCommand {
  readonly merchantId: string;
  /** Undefined: every method without a rule of its own. */
  readonly method: PaymentMethod | undefined;
  readonly currency: Currency;
  /** Percent, as decimal text with at most four fraction digits: `2.5`. */
  readonly rate: string;
  /** Minor units. */
  readonly fixed: bigint;
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

/** Sets the rule. A rate of 0 without a fixed part and a minimum takes the rule away. */
export async function setFee(deps: OperatorDeps, command: FeeSetCommand): Promise<Merchant> {
  const rule = ruleOf(command);
  return changeSettings(deps, command.merchantId, (settings) => {
    const others = (settings.fees ?? []).filter(
      (other) => other.method !== command.method || other.currency !== command.currency,
    );
    return { ...settings, fees: rule === undefined ? others : [...others, rule] };
  });
}

function ruleOf(command: FeeSetCommand): FeeRule | undefined {
  const { method, currency, fixed, min, max } = command;
  const rate_ppm = readRate(command.rate);
  if (min !== undefined && max !== undefined && min > max) throw new OperatorError('the minimum is above the maximum');
  if (rate_ppm === 0 && fixed === 0n && (min ?? 0n) === 0n) return undefined;
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
  throw new OperatorError(`${JSON.stringify(text)} is no rate: write a percentage from 0 to 100 like 2.5`);
}
