/**
 * Where a statement continues, as an opaque text that the client sends back.
 *
 * Invariant: a cursor opens only for the merchant and the query that it was made for; nobody can forge one.
 */

import { isCurrency } from '../domain/currency.ts';
import type { MerchantAccount } from '../domain/ledger.ts';
import type { Deps } from './deps.ts';
import { ALL_BALANCES, type Standing, type StatementOrder, type StatementPosition } from './statement-read.ts';
import { hasFields, isListOf, isText, readStored } from './stored-json.ts';

/** `question` is the client's query in a canonical form. */
export function sealPosition(
  deps: Pick<Deps, 'secrets'>,
  merchantId: string,
  question: string,
  position: StatementPosition,
): string {
  return deps.secrets.seal('cursor', JSON.stringify(writtenOf(position)), contextOf(merchantId, question));
}

/**
 * Undefined for anything that `sealPosition` has not made for the same merchant and question, in this version's shape: the client
 * is told to begin anew.
 */
export function openPosition(
  deps: Pick<Deps, 'secrets'>,
  merchantId: string,
  question: string,
  cursor: string,
): StatementPosition | undefined {
  const text = deps.secrets.open('cursor', cursor, contextOf(merchantId, question));
  const written = text === undefined ? undefined : readStored(text, isWritten);
  return written && positionOf(written);
}

function contextOf(merchantId: string, question: string): string {
  return `statement ${merchantId} ${question}`;
}

/** The position as JSON, with amounts as text: JSON has no exact integers. */
interface Written extends Omit<StatementPosition, 'opening' | 'closing' | 'running' | 'after'> {
  readonly opening: readonly string[];
  readonly closing: readonly string[];
  readonly running: readonly string[];
  readonly after: StatementPosition['after'] | null;
}

function writtenOf({ order, opening, closing, running, after }: StatementPosition): Written {
  const written = (standing: Standing): string[] => standing.map(String);
  return {
    order,
    opening: written(opening),
    closing: written(closing),
    running: written(running),
    after: after ?? null,
  };
}

function isWritten(value: unknown): value is Written {
  if (!hasFields(value) || !isOrder(value.order)) return false;
  const { order, opening, closing, running, after } = value;
  const isStanding = (one: unknown): boolean => isListOf(one, isDigits) && one.length === order.balances.length;
  return [opening, closing, running].every(isStanding) && (after === null || isLinePosition(after));
}

function isOrder(value: unknown): value is StatementOrder {
  if (!hasFields(value)) return false;
  const { currency, balances, from, until } = value;
  return isCurrency(currency) && isListOf(balances, isBalance) && typeof from === 'number' && typeof until === 'number';
}

function isBalance(value: unknown): value is MerchantAccount {
  return ALL_BALANCES.some((one) => one === value);
}

function isDigits(value: unknown): value is string {
  return isText(value) && /^-?\d+$/.test(value);
}

function isLinePosition(value: unknown): value is StatementPosition['after'] {
  if (!hasFields(value)) return false;
  const { at, id, side } = value;
  return typeof at === 'number' && isText(id) && (side === 'debit' || side === 'credit');
}

function positionOf({ order, opening, closing, running, after }: Written): StatementPosition {
  const read = (standing: readonly string[]): Standing => standing.map(BigInt);
  return { order, opening: read(opening), closing: read(closing), running: read(running), after: after ?? undefined };
}
