/**
 * Says things in the reader's language: picks the language a client asked for, and fills the sentence in.
 *
 * Invariant: `say` always returns a sentence. A missing word shows as an ellipsis and never turns an answer into a
 * failure; the number of compiled sentences is bounded by keys times languages.
 */

import { IntlMessageFormat } from 'intl-messageformat';
import type { Words } from '../domain/refusal.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { keepTogether } from './french.ts';
import { ln } from './ln.ts';
import { ru } from './ru.ts';
import type { MessageKey, Sentences } from './sentences.ts';
import { zh } from './zh.ts';

export const LANGUAGES = ['en', 'fr', 'es', 'ru', 'zh', 'ln'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language for clients that ask for no other (contract §1). */
export const DEFAULT_LANGUAGE: Language = 'fr';

/** Each language by its own name, for a switch. */
export const LANGUAGE_NAMES: { readonly [language in Language]: string } = {
  en: 'English',
  fr: 'Français',
  es: 'Español',
  ru: 'Русский',
  zh: '中文',
  ln: 'Lingala',
};

/** What separates two sentences. */
const BLANKS: { readonly [language in Language]: string } = { en: ' ', fr: ' ', es: ' ', ru: ' ', zh: '', ln: ' ' };

const TABLES: { readonly [language in Language]: ReadonlyMap<string, string> } = {
  en: flatten(en, BLANKS.en),
  fr: new Map([...flatten(fr, BLANKS.fr)].map(([key, text]) => [key, keepTogether(text)])),
  es: flatten(es, BLANKS.es),
  ru: flatten(ru, BLANKS.ru),
  zh: flatten(zh, BLANKS.zh),
  ln: flatten(ln, BLANKS.ln),
};

type Element = ReturnType<IntlMessageFormat['getAst']>[number];

/** The two kinds of element that name a word, as the ICU parser numbers them; our sentences use no others. */
const ARGUMENT = 1;
const PLURAL = 6;

interface Compiled {
  readonly format: IntlMessageFormat;
  readonly names: readonly string[];
}

const compiled: { readonly [language in Language]: Map<string, Compiled> } = {
  en: new Map(),
  fr: new Map(),
  es: new Map(),
  ru: new Map(),
  zh: new Map(),
  ln: new Map(),
};

/** Whether a text is one of the six languages, for example from a query or a stored row. */
export function isLanguage(text: unknown): text is Language {
  return LANGUAGES.some((language) => language === text);
}

/** The language of a stored row or a query parameter; the default when it is none of ours. */
export function languageOf(text: unknown): Language {
  return isLanguage(text) ? text : DEFAULT_LANGUAGE;
}

/**
 * The sentence of a key, with its words filled in. Words are put in as they are: amounts and codes as strings.
 *
 * `sentences.ts` lists which words each sentence names.
 */
export function say(language: Language, key: MessageKey, words?: Words): string {
  const text = sentence(language, key);
  if (!text.includes('{')) return text;
  let entry = compiled[language].get(key);
  if (entry === undefined) {
    entry = compile(text, language);
    compiled[language].set(key, entry);
  }
  return String(entry.format.format(withAll(entry.names, words)));
}

/** Placeholder counts: they occur in no sentence, and take the plural of many in every language. */
const many = (place: number): number => 900 + 5 * place;

/**
 * The sentence of a key with the names of its words in their places, as `mark` writes them: for lists of sentences. Where a
 * count chooses a plural, it is that of many.
 */
export function sayNames(language: Language, key: MessageKey, mark: (name: string) => string): string {
  const text = sentence(language, key);
  const places = wordsOf(language, key).map((name, index) => {
    const shown = mark(name);
    return { name, shown, given: text.includes(`{${name}, plural`) ? many(index) : shown };
  });
  const said = say(language, key, Object.fromEntries(places.map(({ name, given }) => [name, given])));
  return places.reduce((line, { given, shown }) => line.replaceAll(String(given), shown), said);
}

/** The sentence as it is written, words still in braces. */
export function sentence(language: Language, key: MessageKey): string {
  const text = TABLES[language].get(key);
  if (text === undefined) throw new Error(`no sentence for ${key}`);
  return text;
}

/** Two sentences, one after the other, as that language is written. */
export function joinSentences(language: Language, first: string, second: string): string {
  return first + BLANKS[language] + second;
}

/** Every key that can be said. */
export function messageKeys(): MessageKey[] {
  return [...TABLES.en.keys()] as MessageKey[];
}

/** The names of the words in a sentence, in alphabetical order. */
export function wordsOf(language: Language, key: MessageKey): string[] {
  return [...compile(sentence(language, key), language).names].sort();
}

function compile(text: string, language: Language): Compiled {
  const format = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
  const names = new Set<string>();
  collectNames(format.getAst(), names);
  return { format, names: [...names] };
}

/** Walks the parsed sentence: a word is a plain argument, or the argument that chooses a plural. */
function collectNames(elements: readonly Element[], names: Set<string>): void {
  for (const element of elements) {
    if (element.type === ARGUMENT || element.type === PLURAL) names.add(element.value);
    if (element.type === PLURAL) {
      for (const branch of Object.values(element.options)) collectNames(branch.value, names);
    }
  }
}

function withAll(names: readonly string[], words: Words | undefined): Words {
  const all: { [name: string]: string | number } = {};
  for (const name of names) all[name] = words?.[name] ?? '…';
  return all;
}

function flatten(sentences: Sentences, blank: string): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  const { refusal, ...groups } = sentences;
  for (const [code, [cause, remedy]] of Object.entries(refusal)) {
    table.set(`refusal.${code}`, cause + blank + remedy);
    table.set(`cause.${code}`, cause);
    table.set(`remedy.${code}`, remedy);
  }
  for (const [group, texts] of Object.entries(groups)) {
    for (const [code, text] of Object.entries<string>(texts)) table.set(`${group}.${code}`, text);
  }
  return table;
}
