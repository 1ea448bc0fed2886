/**
 * `mbongo journal`: lists what operators' commands did, who gave them, and why.
 */

import { canBeAbout } from '../domain/journal.ts';
import { UsageError } from '../usecases/operator-error.ts';
import { requireId } from '../usecases/operator-input.ts';
import { readLimit, readTime } from './options.ts';
import { endOfPage, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** The options of `mbongo journal list`. `about`: an id that entries name. `from`: a time or date as `readTime` reads it. */
export interface JournalListOptions {
  readonly about?: string;
  readonly from?: string;
  readonly after?: string;
  readonly limit: string;
}

/**
 * A page of the journal, the oldest entry first, as `{next, entries: [{entry_id, at, command, by, why, about}]}`. `next` is the id
 * for --after; null: the page was not full.
 *
 * @throws UsageError when an option is malformed.
 */
export async function journalList({ deps }: Tools, options: JournalListOptions): Promise<Output> {
  const { about, from, after } = options;
  const limit = readLimit(options.limit);
  if (after !== undefined) requireId('jrn', after, 'journal entry');
  if (about !== undefined && !canBeAbout(about)) {
    throw new UsageError(
      '--about must be an id (mch_, att_, batch_, txn_ or another, and 26 characters), a wallet number, a month or a hold (hold:mastercard)',
    );
  }
  const entries = await deps.store.journal.list({
    about,
    from: from === undefined ? undefined : readTime(from),
    after,
    limit,
  });
  const end = endOfPage(entries, limit);
  return {
    document: {
      next: end.next,
      entries: entries.map(({ id, created_at, verb, said_by, why, about: ids }) => {
        return { entry_id: id, at: timeOf(created_at), command: verb, by: said_by, why, about: ids };
      }),
    },
    lines: [
      ...table(
        ['entry', 'at', 'command', 'by', 'why', 'about'],
        entries.map(({ id, created_at, verb, said_by, why, about: ids }) => [
          id,
          timeOf(created_at) ?? '',
          verb,
          said_by,
          why ?? '',
          ids.join(' '),
        ]),
      ),
      ...end.lines,
    ],
  };
}
