/**
 * What kind of answer a client asked for (RFC 9110 §12.5.1), and how it may be compressed (§12.5.3).
 *
 * Invariant: HTML goes only to clients that name it and do not refuse it: programs that take anything get no page.
 */

/** Characters that are read of a header: no honest client lists so many types. */
const MAX_READ = 1_000;

/** Whether a client takes HTML, and says so by name. */
export function wantsHtml(accept: string | undefined): boolean {
  return placeOf(accept, 'text/html') !== undefined;
}

/** Whether a client names HTML, and would not rather have JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  return prefersToJson(accept, 'text/html');
}

/** Whether a client names JSON, and would not rather have HTML. */
export function prefersJson(accept: string | undefined): boolean {
  return placeOf(accept, 'application/json') !== undefined && !prefersHtml(accept);
}

/** Whether a client names CSV, and would not rather have JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  return prefersToJson(accept, 'text/csv');
}

/** Whether a client prefers a type to JSON: by their weights, and of the same weight by what it names first. */
function prefersToJson(accept: string | undefined, type: string): boolean {
  const wanted = placeOf(accept, type);
  const json = placeOf(accept, 'application/json');
  if (wanted === undefined || json === undefined) return wanted !== undefined;
  return wanted.weight === json.weight ? wanted.at < json.at : wanted.weight > json.weight;
}

/** The smallest coding that a client names and does not refuse; undefined: it takes only the plain bytes. */
export function codingFor(acceptEncoding: string | undefined): 'br' | 'gzip' | undefined {
  return (['br', 'gzip'] as const).find((coding) => placeOf(acceptEncoding, coding) !== undefined);
}

interface Place {
  readonly at: number;
  readonly weight: number;
}

/** Where a type or coding is named and how much it is wanted; undefined when it is not named, or refused by `q=0`. */
function placeOf(accept: string | undefined, type: string): Place | undefined {
  const ranges = (accept ?? '').slice(0, MAX_READ).toLowerCase().split(',');
  for (const [at, range] of ranges.entries()) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice('q='.length) ?? 1);
    return weight > 0 ? { at, weight } : undefined;
  }
  return undefined;
}
