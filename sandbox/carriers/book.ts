/**
 * The carriers' own book: every movement of money that a pretend carrier really made. It is the oracle against which a gateway is judged.
 * Invariant: an entry is never changed or removed, except that `times` grows when the same reference moves money again.
 */

/** One movement; a card's has an empty `msisdn`. `at` is milliseconds since the epoch; `amount` is the decimal text that the carrier was sent; `currency` is lower case (contract §1). */
export type BookEntry = {
  readonly carrier: string;
  readonly reference: string;
  readonly kind: 'debit' | 'credit';
  readonly msisdn: string;
  readonly amount: string;
  readonly currency: string;
  readonly external_id: string;
  readonly at: number;
  readonly times: number;
};

/** The form in which programs read an entry (contract §11): `at` in ISO 8601. */
export type BookLine = Omit<BookEntry, 'at'> & { readonly at: string };

export type BookFilter = {
  readonly carrier?: string;
  readonly reference?: string;
  readonly msisdn?: string;
};

export type Book = {
  /** `part` tells several movements of one reference apart, such as the refunds of a card payment. */
  readonly record: (entry: Omit<BookEntry, 'times'>, part?: string) => void;
  readonly find: (carrier: string, reference: string) => BookEntry | undefined;
  readonly lines: (filter?: BookFilter) => BookLine[];
  /** The last movements, newest first. */
  readonly newest: (count: number) => BookLine[];
  readonly size: () => number;
};

function lineOf(entry: BookEntry): BookLine {
  return { ...entry, at: new Date(entry.at).toISOString() };
}

export function createBook(): Book {
  const entries = new Map<string, BookEntry>();
  const order: string[] = [];
  const keyOf = (carrier: string, reference: string, part = '') => `${carrier}/${reference}/${part}`;

  return {
    record: (entry, part) => {
      const key = keyOf(entry.carrier, entry.reference, part);
      const before = entries.get(key);
      if (before === undefined) order.push(key);
      entries.set(key, before === undefined ? { ...entry, times: 1 } : { ...before, times: before.times + 1 });
    },
    find: (carrier, reference) => entries.get(keyOf(carrier, reference)),
    lines: (filter = {}) => {
      const lines: BookLine[] = [];
      const reference = filter.reference?.toLowerCase();
      for (const entry of entries.values()) {
        if (filter.carrier !== undefined && filter.carrier !== entry.carrier) continue;
        if (reference !== undefined && reference !== entry.reference.toLowerCase()) continue;
        if (filter.msisdn !== undefined && filter.msisdn !== entry.msisdn) continue;
        lines.push(lineOf(entry));
      }
      return lines;
    },
    newest: (count) => {
      const newest = order.slice(-count).reverse();
      return newest.flatMap((key) => entries.get(key) ?? []).map(lineOf);
    },
    size: () => entries.size,
  };
}
