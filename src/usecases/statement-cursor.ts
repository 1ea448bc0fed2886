/**
 * Where a statement continues, as an opaque text that the client sends back.
 *
 * Invariant: a cursor opens only for the merchant and the query that it was made for; nobody can forge one.
 */

import type { Deps } from './deps.ts';
import type { Standing, StatementPosition } from './statement-read.ts';

/** `question` is the client's query in a canonical form. */
export function sealPosition(
  deps: Pick<Deps, 'secrets'>,
  merchantId: string,
  question: string,
  position: StatementPosition,
): string {
  return deps.secrets.seal('cursor', JSON.stringify(writtenOf(position)), contextOf(merchantId, question));
}

/** Undefined for anything that `sealPosition` has not made for the same merchant and question. */
export function openPosition(
  deps: Pick<Deps, 'secrets'>,
  merchantId: string,
  question: string,
  cursor: string,
): StatementPosition | undefined {
  const text = deps.secrets.open('cursor', cursor, contextOf(merchantId, question));
  return text === undefined ? undefined : positionOf(JSON.parse(text) as Written);
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

function positionOf({ order, opening, closing, running, after }: Written): StatementPosition {
  const read = (standing: readonly string[]): Standing => standing.map(BigInt);
  return { order, opening: read(opening), closing: read(closing), running: read(running), after: after ?? undefined };
}
