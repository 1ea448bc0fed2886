/**
 * The words of the shop in six languages.
 * Invariant: every language that a reader can choose has its words here.
 */
import { keepTogether, type Language } from '../pages/languages.ts';
import { en } from './words/en.ts';
import { es } from './words/es.ts';
import { fr } from './words/fr.ts';
import { ln } from './words/ln.ts';
import { ru } from './words/ru.ts';
import type { ShopWords } from './words/shop-words.ts';
import { zh } from './words/zh.ts';

export const shopWords: Readonly<Record<Language, ShopWords>> = { en, fr: keepTogether(fr), es, ru, zh, ln };
