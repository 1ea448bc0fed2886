/**
 * The shop's visitor: cart, language and currency, from cookies and from the address.
 * Invariant: cookies are sent only to the shop, hold no more than a name, and are read as untrusted text.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Language, languageOf, languages } from '../pages/languages.ts';
import { type Currency, isCurrency } from './goods.ts';

export type Visitor = {
  /** The cart's id; undefined until something has been put into one. */
  readonly cart: string | undefined;
  readonly language: Language;
  readonly currency: Currency;
};

const names = { cart: 'shop_cart', language: 'shop_language', currency: 'shop_currency' } as const;

function cookieIn(request: FastifyRequest, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function setCookie(reply: FastifyReply, name: string, value: string): void {
  // Lax: a form on another site cannot press the shop's buttons, and a customer who returns from the payment page is recognised.
  void reply.header('set-cookie', `${name}=${value}; Path=/shop; HttpOnly; SameSite=Lax`);
}

function asked(request: FastifyRequest, name: string): unknown {
  const query = request.query;
  return typeof query === 'object' && query !== null ? Reflect.get(query, name) : undefined;
}

/** `?lang=` and `?currency=` override the cookies, and are remembered. */
export function visitorOf(request: FastifyRequest, reply: FastifyReply): Visitor {
  const chosen = languages.find((language) => language === asked(request, 'lang'));
  if (chosen !== undefined) setCookie(reply, names.language, chosen);
  const remembered = languages.find((language) => language === cookieIn(request, names.language));
  const currency = asked(request, 'currency');
  if (isCurrency(currency)) setCookie(reply, names.currency, currency);
  return {
    cart: cookieIn(request, names.cart),
    language: chosen ?? remembered ?? languageOf(request),
    currency: [currency, cookieIn(request, names.currency)].find(isCurrency) ?? 'usd',
  };
}

export function rememberCart(reply: FastifyReply, visitor: Visitor, cart: string): void {
  if (cart !== visitor.cart) setCookie(reply, names.cart, cart);
}
