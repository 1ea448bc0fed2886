/**
 * The carriers' own book: every movement of money that a pretend carrier really made. A gateway is judged against it.
 * Invariant: an entry is never changed, and removed only at start-up, except that `times` grows when the same reference moves
 * money again.
 */
import { blankChapter, type Chapter } from '../diary.ts';

/**
 * One movement; a card's has an empty `msisdn`. `at` is milliseconds since the epoch; `amount` is the decimal text that the
 * carrier was sent; `currency` is lower case (contract §1).
 */
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
  /** `part` distinguishes several movements under one reference, such as the refunds of a card payment. */
  readonly record: (entry: Omit<BookEntry, 'times'>, part?: string) => void;
  readonly find: (carrier: string, reference: string, part?: string) => BookEntry | undefined;
  readonly lines: (filter?: BookFilter) => BookLine[];
  /** The latest movements, newest first. */
  readonly newest: (count: number) => BookLine[];
  /** A page of the movements in the order in which they were first made, skipping the first `after`. */
  readonly page: (after: number, limit: number) => BookLine[];
  /** The movements that were made more than once. */
  readonly repeated: () => BookLine[];
  /** The movements that were requested under one of these ids of the gateway's. */
  readonly ofExternalIds: (ids: ReadonlySet<string>) => BookLine[];
  readonly size: () => number;
  /** At start-up: removes entries that were recorded just before the process ended and were never reported to a caller. */
  readonly forget: (isUntold: (entry: BookEntry) => boolean) => void;
};

function lineOf(entry: BookEntry): BookLine {
  return { ...entry, at: new Date(entry.at).toISOString() };
}

type Kept = { -readonly [field in keyof BookEntry]: BookEntry[field] };

/** A movement as recorded in the diary. */
export type Booked = {
  readonly entry: Omit<BookEntry, 'times'>;
  readonly part?: string | undefined;
  readonly forgotten?: true;
};

export function createBook(written: Chapter<Booked> = blankChapter()): Book {
  const entries: Kept[] = [];
  const twice = new Set<Kept>();
  // By carrier and part, then by reference: one name made of all three would cost another string per movement.
  const shelves = new Map<string, Map<string, Kept>>();
  const shelfOf = (carrier: string, part = ''): Map<string, Kept> => {
    const name = `${carrier}/${part}`;
    const known = shelves.get(name);
    if (known !== undefined) return known;
    const shelf = new Map<string, Kept>();
    shelves.set(name, shelf);
    return shelf;
  };

  const add = ({ entry, part }: Booked): void => {
    const shelf = shelfOf(entry.carrier, part);
    const before = shelf.get(entry.reference);
    if (before !== undefined) {
      before.times += 1;
      twice.add(before);
      return;
    }
    const kept = { times: 1, ...entry };
    entries.push(kept);
    shelf.set(entry.reference, kept);
  };
  const remove = ({ entry, part }: Booked): void => {
    const shelf = shelfOf(entry.carrier, part);
    const gone = shelf.get(entry.reference);
    if (gone === undefined) return;
    shelf.delete(entry.reference);
    twice.delete(gone);
    entries.splice(entries.indexOf(gone), 1);
  };
  for (const booked of written.past()) {
    if (booked.forgotten === true) remove(booked);
    else add(booked);
  }

  return {
    record: (entry, part) => {
      written.note({ entry, part });
      add({ entry, part });
    },
    find: (carrier, reference, part) => shelfOf(carrier, part).get(reference),
    lines: (filter = {}) => {
      const lines: BookLine[] = [];
      const reference = filter.reference?.toLowerCase();
      for (const entry of entries) {
        if (filter.carrier !== undefined && filter.carrier !== entry.carrier) continue;
        if (reference !== undefined && reference !== entry.reference.toLowerCase()) continue;
        if (filter.msisdn !== undefined && filter.msisdn !== entry.msisdn) continue;
        lines.push(lineOf(entry));
      }
      return lines;
    },
    newest: (count) => entries.slice(-count).reverse().map(lineOf),
    page: (after, limit) => entries.slice(after, after + limit).map(lineOf),
    repeated: () => [...twice].map(lineOf),
    ofExternalIds: (ids) => entries.filter(({ external_id }) => ids.has(external_id)).map(lineOf),
    size: () => entries.length,
    forget: (isUntold) => {
      for (const [name, shelf] of shelves) {
        const part = name.slice(name.indexOf('/') + 1);
        for (const entry of [...shelf.values()].filter(isUntold)) {
          written.note({ entry, part, forgotten: true });
          remove({ entry, part });
        }
      }
    },
  };
}
