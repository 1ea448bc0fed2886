/**
 * The words of the hosted page: which there are, and how each is said in the reader's language.
 *
 * Invariant: English is the model. A word that is missing in another language does not compile, and a test finds a name in braces
 * that is missing.
 */

import { keepTogether } from '../french.ts';
import type { Language } from '../messages.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ln } from './ln.ts';
import { ru } from './ru.ts';
import { zh } from './zh.ts';

export type CheckoutWord = keyof typeof en;

const TABLES: { readonly [language in Language]: { readonly [word in CheckoutWord]: string } } = {
  en,
  fr: allKeptTogether(fr),
  es,
  ru,
  zh,
  ln,
};

/** The text of a word, with the values that it names in braces. What is missing shows as an ellipsis. */
export function checkoutText(
  language: Language,
  word: CheckoutWord,
  values: Readonly<Record<string, string>> = {},
): string {
  return checkoutTemplate(language, word).replace(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? '…');
}

/** The text as it is written, names still in braces. */
export function checkoutTemplate(language: Language, word: CheckoutWord): string {
  return TABLES[language][word];
}

function allKeptTogether(words: typeof fr): typeof fr {
  const kept = Object.entries(words).map(([word, text]) => [word, keepTogether(text)]);
  return Object.fromEntries(kept) as typeof fr;
}
