/** Every sentence exists, names the right placeholders, and is in its own language. */

import { describe, expect, test } from 'vitest';
import { REFUSALS } from '../domain/refusal.ts';
import { checkoutText } from './checkout/words.ts';
import { LANGUAGES, languageOf, messageKeys, say, sentence, wordsOf } from './messages.ts';
import { type MessageKey, OTHER_WORDS, WORDS } from './sentences.ts';

const OTHERS = LANGUAGES.filter((language) => language !== 'en');

/** Brands, abbreviations, and words that a language really shares with English. */
const SAME_AS_ENGLISH = new Set<string>([
  'fr method.mobile_money',
  'ln method.mobile_money',
  'fr page.code',
  'ln page.code',
  'es page.title',
]);
for (const language of OTHERS) {
  for (const method of ['flash', 'google_pay', 'apple_pay']) SAME_AS_ENGLISH.add(`${language} method.${method}`);
}

function documentedWords(key: MessageKey): readonly string[] {
  const detail = Object.entries(WORDS).find(([code]) => key === `detail.${code}`);
  return detail?.[1] ?? OTHER_WORDS[key] ?? [];
}

describe.each(LANGUAGES)('%s', (language) => {
  test('has every key, with exactly the documented placeholders', () => {
    for (const key of messageKeys()) {
      expect(sentence(language, key), key).not.toBe('');
      expect(wordsOf(language, key), `${language} ${key}`).toEqual([...documentedWords(key)].sort());
    }
  });

  test('has the same keys as English', () => {
    expect(messageKeys().every((key) => sentence(language, key).length > 0)).toBe(true);
  });

  test('uses typographic quotation marks, which mean nothing to ICU', () => {
    for (const key of messageKeys()) expect(sentence(language, key), key).not.toMatch(/['"<>]/);
  });

  test('fills in every placeholder and leaves no brace', () => {
    for (const key of messageKeys()) {
      const words = Object.fromEntries(documentedWords(key).map((name) => [name, NUMBERS.has(name) ? 3 : `«${name}»`]));
      const said = say(language, key, words);
      expect(said, key).not.toMatch(/[{}…#]|NaN/);
      for (const name of documentedWords(key)) expect(said).toContain(NUMBERS.has(name) ? '3' : `«${name}»`);
    }
  });

  test('ends each refusal’s sentences, so that cause and remedy read as two', () => {
    for (const code of Object.keys(REFUSALS) as unknown as (keyof typeof REFUSALS)[]) {
      const [cause, remedy] = [sentence(language, `cause.${code}`), sentence(language, `remedy.${code}`)];
      expect(cause).toMatch(/[.。]$/);
      expect(remedy).toMatch(/[.。]$/);
      expect(sentence(language, `refusal.${code}`)).toBe(cause + (language === 'zh' ? '' : ' ') + remedy);
    }
  });

  test('renders a sentence even if a value is missing', () => {
    expect(say(language, 'detail.STATE')).toContain('…');
    expect(say(language, 'detail.INVALID_PIN').length).toBeGreaterThan(10);
  });
});

const NUMBERS = new Set(['left', 'minutes', 'resends']);

test('no sentence is left in English', () => {
  for (const language of OTHERS) {
    const same = messageKeys().filter((key) => sentence(language, key) === sentence('en', key));
    expect(same.filter((key) => !SAME_AS_ENGLISH.has(`${language} ${key}`))).toEqual([]);
  }
});

test('a line of French never begins with its punctuation, and a text message keeps to the plain alphabet', () => {
  for (const key of messageKeys()) expect(sentence('fr', key), key).not.toMatch(/ [:;?!»]|« /);
  expect(say('fr', 'detail.PAYER_UNKNOWN')).toContain('numéro\u00a0; aucun');
  expect(say('fr', 'sms.code', { merchant: 'Chez Anne : fleurs' })).not.toContain('\u00a0');
});

test('Chinese is written in Han, Russian in Cyrillic', () => {
  for (const key of messageKeys()) {
    if (SAME_AS_ENGLISH.has(`zh ${key}`)) continue;
    expect(sentence('zh', key), key).toMatch(/\p{Script=Han}/u);
    expect(sentence('ru', key), key).toMatch(/\p{Script=Cyrillic}/u);
  }
});

test('plurals follow each language', () => {
  const left = (count: number) => ({ left: count });
  expect(say('en', 'detail.INVALID_PIN', left(1))).toBe('The number or the PIN is not right. 1 attempt is left.');
  expect(say('en', 'detail.INVALID_PIN', left(4))).toBe('The number or the PIN is not right. 4 attempts are left.');
  expect(say('en', 'detail.INVALID_PIN', left(0))).toBe(
    'The number or the PIN is not right. No attempt is left for now.',
  );
  expect(say('fr', 'detail.INVALID_PIN', left(1))).toBe(
    'Le numéro ou le code PIN n’est pas correct. Il reste 1 essai.',
  );
  expect(say('ru', 'detail.INVALID_PIN', left(1))).toBe('Номер или ПИН-код неверен. Осталась 1 попытка.');
  expect(say('ru', 'detail.INVALID_PIN', left(3))).toBe('Номер или ПИН-код неверен. Осталось 3 попытки.');
  expect(say('ru', 'detail.INVALID_PIN', left(5))).toBe('Номер или ПИН-код неверен. Осталось 5 попыток.');
});

test('a code or an amount is inserted as it is, digit for digit', () => {
  const words = { code: '004210', amount: '1250000.50', currency: 'usd', merchant: 'Boutique <Kivu> {x}', minutes: 10 };
  for (const language of LANGUAGES) {
    const said = say(language, 'sms.code', words);
    expect(said).toContain('004210');
    expect(said).toContain('1250000.50 usd');
    expect(said).toContain('Boutique <Kivu> {x}');
  }
});

test('a stored language that we do not have becomes the default', () => {
  expect(languageOf('ru')).toBe('ru');
  for (const none of ['de', '', 'FR', null, undefined, 7, '__proto__', 'constructor'])
    expect(languageOf(none)).toBe('fr');
});

/** How each language says that no money moved. */
const UNMOVED = {
  en: /no money moved|nothing has been charged/i,
  fr: /aucun mouvement d’argent|rien n’a été débité/i,
  es: /no se movió dinero|no se ha cobrado/i,
  ru: /деньги не списаны/i,
  zh: /资金没有变动|没有扣款/,
  ln: /mbongo elongwe te/i,
} as const;

test.each(LANGUAGES)(
  'a carrier that turns a request away may have accepted it: in %s, only what is known is said',
  (language) => {
    for (const key of ['cause.1404', 'detail.CARRIER_DOWN', 'reason.not_sent'] as const)
      expect(sentence(language, key), key).not.toMatch(UNMOVED[language]);
    expect(checkoutText(language, 'carrier_down')).not.toMatch(UNMOVED[language]);
    // What the carrier has refused for good, it has not accepted.
    expect(sentence(language, 'detail.CARRIER_REFUSES')).toMatch(UNMOVED[language]);
    expect(checkoutText(language, 'carrier_refuses')).toMatch(UNMOVED[language]);
  },
);

/** The basic alphabet of text messages (GSM 03.38), without its Greek letters. */
const GSM = /^[A-Za-z0-9 \n\r@£$¥èéùìòÇØøÅå_ÆæßÉ!"#¤%&'()*+,\-./:;<=>?¡ÄÖÑÜ§¿äöñüà]*$/;

test.each(LANGUAGES)(
  'a one-time code in %s is one text message: 160 letters of the plain alphabet, or 70 others',
  (language) => {
    const isPlain = language !== 'ru' && language !== 'zh';
    const amount = isPlain ? '1250000.00' : '125000.00';
    const said = say(language, 'sms.code', {
      code: '004210',
      amount,
      currency: 'USD',
      merchant: 'Boutique Kivu',
      minutes: 10,
    });
    expect(GSM.test(said), said).toBe(isPlain);
    expect(said.length, said).toBeLessThanOrEqual(isPlain ? 160 : 70);
  },
);
