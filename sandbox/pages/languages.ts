/**
 * Which language a reader gets, and how amounts and times are written in it.
 * Invariant: formatting happens on the server, because browsers do not know all six languages.
 */
import type { FastifyRequest } from 'fastify';

export const languages = ['en', 'fr', 'es', 'ru', 'zh', 'ln'] as const;
export type Language = (typeof languages)[number];

/** Each language's name in the language itself. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  fr: 'Français',
  es: 'Español',
  ru: 'Русский',
  zh: '中文',
  ln: 'Lingála',
};

/** French words whose lines cannot begin with their punctuation: the blanks before it, and within quotation marks, break no line. */
export function keepTogether<Words>(french: Words): Words {
  return JSON.parse(JSON.stringify(french).replace(/ (?=[:;?!»])|(?<=«) /g, '\u00a0'));
}

const fallback: Language = 'fr';

function known(tag: string): Language | undefined {
  const primary = tag.trim().toLowerCase().split('-')[0];
  return languages.find((language) => language === primary);
}

/** `?lang=` first, then Accept-Language by its weights, then French (contract §1). */
export function languageOf(request: FastifyRequest): Language {
  const query = request.query;
  const asked = typeof query === 'object' && query !== null && 'lang' in query ? query.lang : undefined;
  const chosen = typeof asked === 'string' ? known(asked) : undefined;
  if (chosen !== undefined) return chosen;
  const ranked = (request.headers['accept-language'] ?? '')
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';');
      const weight = parameters.map((one) => /^\s*q=([\d.]+)\s*$/.exec(one)?.[1]).find((one) => one !== undefined);
      return { language: known(tag), weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter((range) => range.weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return ranked.find((range) => range.language !== undefined)?.language ?? fallback;
}

function isDecimal(text: string): text is `${number}` {
  return /^\d+(\.\d+)?$/.test(text);
}

/** "45,90 USD": decimal text with its own digits, never through a floating-point number. */
export function formatAmount(language: Language, amount: string, currency: string): string {
  const code = currency.toUpperCase();
  if (!isDecimal(amount) || !/^[A-Z]{3}$/.test(code)) return `${amount} ${code}`;
  const digits = amount.split('.')[1]?.length ?? 0;
  const number = new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${number.format(amount)}\u00a0${code}`;
}

/** The hour and minute on a 24-hour clock, as on a handset. */
export function formatClock(language: Language, at: number): string {
  return new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
}

export function formatDay(language: Language, at: number): string {
  return new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' }).format(at);
}

/** Date and time to the second, for lists. */
export function formatMoment(language: Language, at: number): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }).format(at);
}
