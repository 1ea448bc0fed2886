/**
 * Which of our languages a client asked for (RFC 9110 §12.5.4, RFC 4647 lookup).
 *
 * Invariant: any header, however long or broken, gives one of the six languages, in time bounded by its first part.
 */

import { DEFAULT_LANGUAGE, isLanguage, LANGUAGES, type Language } from './messages.ts';

/** Characters that are read of a header: no honest client lists so many languages. */
const MAX_READ = 1_000;
const REMEMBERED = 500;
const RANGE = /^([a-z]{1,8}|\*)(?:[-_][a-z0-9]{1,8})*$/i;
const QUALITY = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i;

const remembered = new Map<string, Language>();

/** The language of an Accept-Language header; French when it names none of ours. */
export function negotiate(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined || acceptLanguage === '') return DEFAULT_LANGUAGE;
  if (isLanguage(acceptLanguage)) return acceptLanguage;
  const header = acceptLanguage.slice(0, MAX_READ);
  const known = remembered.get(header);
  if (known !== undefined) return known;
  const chosen = choose(header);
  // Browsers send a few dozen different headers; any more are not remembered, and only cost the parsing.
  if (remembered.size < REMEMBERED) remembered.set(header, chosen);
  return chosen;
}

function choose(header: string): Language {
  const best = new Map<string, number>();
  for (const part of header.split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const name = RANGE.exec(range)?.[1]?.toLowerCase();
    const quality = qualityOf(parameters);
    if (name === undefined || quality === undefined) continue;
    best.set(name, Math.max(quality, best.get(name) ?? 0));
  }
  let chosen: Language | undefined;
  let chosenQuality = 0;
  for (const [name, quality] of best) {
    const language = name === '*' ? anyBut(best) : name;
    if (quality > chosenQuality && isLanguage(language)) {
      chosen = language;
      chosenQuality = quality;
    }
  }
  return chosen ?? DEFAULT_LANGUAGE;
}

/** `*` stands for what the header does not name: our default, or else the first language that is left. */
function anyBut(named: ReadonlyMap<string, number>): Language | undefined {
  return [DEFAULT_LANGUAGE, ...LANGUAGES].find((language) => !named.has(language));
}

/** 0 to 1; undefined when a parameter is malformed, which makes its range void. */
function qualityOf(parameters: readonly string[]): number | undefined {
  if (parameters.length === 0) return 1;
  const match = parameters.length === 1 ? QUALITY.exec(parameters[0] ?? '') : null;
  return match === null ? undefined : Number(match[1]);
}
