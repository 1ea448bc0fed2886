/**
 * The simulated carriers' own book, read over their control API: what they really moved, for the auditor.
 *
 * Invariant: it exists only if an upstream is the sandbox. A book that cannot be read is no answer, and never an empty book.
 */

import { isCurrency } from '../../domain/currency.ts';
import { parseAmount } from '../../domain/money.ts';
import type { Outbound } from '../../platform/platform.ts';
import type { BookLine, Books } from '../connector.ts';
import { resultOf } from '../response.ts';

export interface BooksConfig {
  readonly mode: 'sandbox' | 'production';
  readonly sandboxPort: number;
}

const TIMEOUT_MS = 10_000;
/** Bytes: a thousand lines take a quarter of a megabyte. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** `addresses`: where the configured upstreams are, by their connectors' names. */
export function openSandboxBooks(
  config: BooksConfig,
  addresses: ReadonlyMap<string, string>,
  outbound: Pick<Outbound, 'request'>,
): Books | undefined {
  const base = `http://127.0.0.1:${config.sandboxPort}`;
  const connectors = [...addresses].flatMap(([name, address]) => (address.startsWith(`${base}/`) ? [name] : []));
  if (config.mode !== 'sandbox' || connectors.length === 0) return undefined;

  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> => {
    const answer = await outbound.request({
      method,
      url: `${base}/control/books/${path}`,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      timeout: TIMEOUT_MS,
      trust: 'upstream',
      answerLimit: MAX_ANSWER_BYTES,
    });
    const result = resultOf(answer);
    return result.kind === 'answered' && result.status === 200 ? result.body : undefined;
  };

  return {
    connectors,
    async page(after) {
      const { started_at: startedAt, size, lines, repeated } = fieldsOf(await ask('GET', `page?after=${after}`));
      if (typeof startedAt !== 'string' || typeof size !== 'number') return undefined;
      const [read, twice] = [linesIn(lines), linesIn(repeated)];
      return read === undefined || twice === undefined ? undefined : { startedAt, size, lines: read, repeated: twice };
    },
    async ofAttempts(ids) {
      const { lines } = fieldsOf(await ask('POST', 'search', { external_ids: ids }));
      return linesIn(lines);
    },
  };
}

function fieldsOf(value: unknown): { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** All lines, or undefined if one of them is not a line. */
function linesIn(value: unknown): BookLine[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const lines = value.map(lineIn);
  return lines.every((line) => line !== undefined) ? lines : undefined;
}

function lineIn(value: unknown): BookLine | undefined {
  const { external_id: attemptId, kind, amount, currency, times } = fieldsOf(value);
  if (typeof attemptId !== 'string' || typeof currency !== 'string' || typeof times !== 'number') return undefined;
  if (kind !== 'debit' && kind !== 'credit') return undefined;
  const amountMinor = isCurrency(currency) ? parseAmount(amount, currency)?.minor : undefined;
  return { attemptId, kind, amountMinor, currency, times };
}
