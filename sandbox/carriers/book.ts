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
  readonly find: (carrier: string, reference: string, part?: string) => BookEntry | undefined;
  readonly lines: (filter?: BookFilter) => BookLine[];
  /** The last movements, newest first. */
  readonly newest: (count: number) => BookLine[];
  /** A page of the movements in the order in which they were first made: those behind the first `after`. */
  readonly page: (after: number, limit: number) => BookLine[];
  /** The movements that were made more than once. */
  readonly repeated: () => BookLine[];
  /** The movements that were asked for under one of these names of ours. */
  readonly ofExternalIds: (ids: ReadonlySet<string>) => BookLine[];
  readonly size: () => number;
};

function lineOf(entry: BookEntry): BookLine {
  return { ...entry, at: new Date(entry.at).toISOString() };
}

export function createBook(): Book {
  const entries = new Map<string, BookEntry>();
  const order: string[] = [];
  const linesOf = (keys: Iterable<string>): BookLine[] =>
    [...keys].flatMap((key) => entries.get(key) ?? []).map(lineOf);
  const twice = new Set<string>();
  const keyOf = (carrier: string, reference: string, part = '') => `${carrier}/${reference}/${part}`;

  return {
    record: (entry, part) => {
      const key = keyOf(entry.carrier, entry.reference, part);
      const before = entries.get(key);
      if (before === undefined) order.push(key);
      else twice.add(key);
      entries.set(key, before === undefined ? { ...entry, times: 1 } : { ...before, times: before.times + 1 });
    },
    find: (carrier, reference, part) => entries.get(keyOf(carrier, reference, part)),
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
    newest: (count) => linesOf(order.slice(-count).reverse()),
    page: (after, limit) => linesOf(order.slice(after, after + limit)),
    repeated: () => linesOf(twice),
    ofExternalIds: (ids) => [...entries.values()].filter(({ external_id }) => ids.has(external_id)).map(lineOf),
    size: () => entries.size,
  };
}
