/**
 * Reads a date of an HTTP header, in each of the three forms that a recipient has to accept (RFC 9110 §5.6.7).
 *
 * Invariant: a text that is no such date, or names a day or a time that does not exist, is undefined; nothing is guessed.
 */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_WEEKDAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const DAY = '(?<day>\\d{2})';
/** A minute may have a 61st second, a leap second. */
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

const FORMS = [
  // IMF-fixdate, which senders must use: `Sun, 06 Nov 1994 08:49:37 GMT`.
  new RegExp(`^${WEEKDAY}, ${DAY} ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  // rfc850-date, obsolete: `Sunday, 06-Nov-94 08:49:37 GMT`.
  new RegExp(`^${LONG_WEEKDAY}, ${DAY}-${MONTH}-(?<shortYear>\\d{2}) ${TIME} GMT$`),
  // asctime-date, obsolete: `Sun Nov  6 08:49:37 1994`.
  new RegExp(`^${WEEKDAY} ${MONTH} (?<day>\\d{2}| \\d) ${TIME} (?<year>\\d{4})$`),
];

/** The instant of an HTTP date. `now` decides the century of a year with two digits. The weekday is not compared with the date. */
export function parseHttpDate(text: string, now: number): number | undefined {
  for (const form of FORMS) {
    const found = form.exec(text)?.groups;
    if (found !== undefined)
      return found.year === undefined ? nearest(found, now) : instantOf(found, Number(found.year));
  }
  return undefined;
}

/** What a form has matched, by the names of its parts. */
type Parts = { readonly [name: string]: string | undefined };

/** A date with a two-digit year lies in the last century in which it is at most 50 years ahead. */
function nearest(found: Parts, now: number): number | undefined {
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + 50);
  const century = latest.getUTCFullYear() - (latest.getUTCFullYear() % 100);
  const year = century + Number(found.shortYear);
  const at = instantOf(found, year);
  return at === undefined || at <= latest.getTime() ? at : instantOf(found, year - 100);
}

function instantOf(found: Parts, year: number): number | undefined {
  const [day, hour, minute, second] = [found.day, found.hour, found.minute, found.second].map(Number);
  const midnight = new Date(0);
  // Date.UTC would take a year below 100 for one of the twentieth century.
  midnight.setUTCFullYear(year, MONTHS.indexOf(found.month ?? ''), day);
  // A day that its month lacks has become one of the next month.
  if (midnight.getUTCDate() !== day) return undefined;
  return midnight.setUTCHours(hour ?? 0, minute, second);
}
