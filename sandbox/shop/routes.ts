/**
 * The demo shop over HTTP: what its customers see and press.
 * Invariant: every button submits a form that ends in a redirect or a page, so that the shop works without script; what a browser
 * says about a payment is never trusted.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { streamChanges } from '../pages/events.ts';
import { html, type SafeHtml } from '../pages/html.ts';
import type { World } from '../world.ts';
import { createDesk } from './account.ts';
import { askAbout, buy, type ShopParts, settleCart } from './buying.ts';
import { type CartView, cartMain, troubleMain } from './cart-page.ts';
import { createCarts, type Terms } from './carts.ts';
import { credentialDoor, webhookDoor } from './door.ts';
import { shopFiles } from './files.ts';
import { cartCount, type ShopPage, sendShopPage, sendShopParts } from './frame.ts';
import { isGood } from './goods.ts';
import { lookEvery, noOrderMain, orderMain, orderPart, ordersMain, ordersPart } from './order-pages.ts';
import { createOrders, type Orders, stateOf } from './orders.ts';
import { rememberCart, type Visitor, visitorOf } from './visitor.ts';
import { setupCard, windowMain } from './window-page.ts';
import { shopWords } from './words.ts';

export type ShopOptions = {
  readonly world: World;
  /** The usual address of a gateway; only for the command that an unconnected shop shows. */
  readonly gatewayUrl: string;
};

type Handler = { readonly parts: ShopParts; readonly gatewayUrl: string };
type Named = { Params: { order: string } };
/** The gateway may add parameters to the address; none of them is trusted. */
type Returning = Named & { Querystring: { transaction_id?: unknown } };

const ordersShown = 100;

/** Registers the shop and returns its orders. */
export async function registerShop(app: FastifyInstance, { world, gatewayUrl }: ShopOptions): Promise<Orders> {
  const parts = { world, desk: createDesk(), carts: createCarts(), orders: createOrders() };
  await app.register(async (scope) => webhookDoor(scope, parts));
  credentialDoor(app, parts);
  shopFiles(app);
  cartRoutes(app, { parts, gatewayUrl });
  returnRoutes(app, { parts, gatewayUrl });
  orderRoutes(app, { parts, gatewayUrl });
  return parts.orders;
}

function rootOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

function liveAt(address: string): { readonly parts: string; readonly events: string } {
  return { parts: `${address}/parts`, events: `${address}/events` };
}

/** A form's fields; none for any other kind of body. */
function fieldsOf(request: FastifyRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
}

function frameOf({ desk, carts }: ShopParts, visitor: Visitor): Pick<ShopPage, 'visitor' | 'inCart' | 'gatewayOrigin'> {
  const inCart = carts.lines(visitor.cart).reduce((sum, { quantity }) => sum + quantity, 0);
  return { visitor, inCart, gatewayOrigin: desk.known()?.gatewayOrigin };
}

function setupFor({ parts, gatewayUrl }: Handler, request: FastifyRequest, visitor: Visitor): SafeHtml | undefined {
  return parts.desk.known() === undefined ? setupCard(visitor, rootOf(request), gatewayUrl) : undefined;
}

function termsIn(fields: URLSearchParams, { currency }: Visitor): Terms {
  return {
    currency,
    fee_covered_by: fields.get('fee_covered_by') === 'merchant' ? 'merchant' : 'buyer',
    delivery_behaviour:
      fields.get('delivery_behaviour') === 'delayed_delivery' ? 'delayed_delivery' : 'direct_delivery',
  };
}

function cartRoutes(app: FastifyInstance, handler: Handler): void {
  const { parts } = handler;
  const { carts } = parts;
  app.get('/shop', (request, reply) => {
    const visitor = visitorOf(request, reply);
    settleCart(parts, visitor.cart);
    const main = windowMain(visitor, carts.lines(visitor.cart), setupFor(handler, request, visitor));
    const { shop } = shopWords[visitor.language];
    return sendShopPage(reply, { ...frameOf(parts, visitor), title: shop, current: '/shop', main });
  });
  app.get('/shop/cart', (request, reply) => {
    const visitor = visitorOf(request, reply);
    settleCart(parts, visitor.cart);
    const main = cartMain(cartView(handler, request, visitor));
    const { cartTitle } = shopWords[visitor.language];
    return sendShopPage(reply, { ...frameOf(parts, visitor), title: cartTitle, current: '/shop/cart', main });
  });
  app.post('/shop/cart', (request, reply) => {
    const fields = fieldsOf(request);
    const visitor = visitorOf(request, reply);
    const good = fields.get('good');
    const quantity = fields.get('quantity') ?? '';
    if (isGood(good) && /^\d{1,3}$/.test(quantity))
      rememberCart(reply, visitor, carts.set(visitor.cart, good, Number(quantity)));
    const page = fields.get('from') === 'shop' ? '/shop' : '/shop/cart';
    return reply.redirect(isGood(good) ? `${page}#${good}` : page, 303);
  });
  app.post('/shop/buy', (request, reply) => buyNow(handler, request, reply));
  // A customer who changes the language on the page of a failed purchase arrives here.
  app.get('/shop/buy', (request, reply) => {
    visitorOf(request, reply);
    return reply.redirect('/shop/cart', 303);
  });
}

function cartView(handler: Handler, request: FastifyRequest, visitor: Visitor): CartView {
  return {
    visitor,
    lines: handler.parts.carts.lines(visitor.cart),
    terms: termsIn(fieldsOf(request), visitor),
    setup: setupFor(handler, request, visitor),
  };
}

async function buyNow(handler: Handler, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { parts } = handler;
  const visitor = visitorOf(request, reply);
  const known = parts.desk.known();
  if (known === undefined || visitor.cart === undefined) return reply.redirect('/shop/cart', 303);
  const view = cartView(handler, request, visitor);
  const wish = { cart: visitor.cart, terms: view.terms, language: visitor.language, root: rootOf(request) };
  const bought = await buy(parts, known, wish);
  switch (bought.kind) {
    case 'opened':
      return reply.redirect(bought.redirect_url, 303);
    case 'begun':
      return reply.redirect(`/shop/return/${bought.id}`, 303);
    case 'empty':
      return reply.redirect('/shop/cart', 303);
    case 'trouble': {
      const main = troubleMain(view, bought.trouble);
      const { trouble } = shopWords[visitor.language];
      return sendShopPage(reply, { ...frameOf(parts, visitor), title: trouble, main }, 502);
    }
  }
}

function returnRoutes(app: FastifyInstance, { parts }: Handler): void {
  const { orders, carts } = parts;
  const lost = (reply: FastifyReply, visitor: Visitor) => {
    const { title } = shopWords[visitor.language].noOrder;
    return sendShopPage(reply, { ...frameOf(parts, visitor), title, main: noOrderMain(visitor) }, 404);
  };
  /** The order after an inquiry at the gateway, and what prevented the inquiry, if anything. */
  const askedOrder = async ({ params, query }: FastifyRequest<Returning>) => {
    const { transaction_id: hint } = query;
    const trouble = await askAbout(parts, params.order, typeof hint === 'string' ? hint : undefined);
    const order = orders.get(params.order);
    return order && { order, trouble };
  };

  app.get<Returning>('/shop/return/:order', async (request, reply) => {
    const visitor = visitorOf(request, reply);
    const asked = await askedOrder(request);
    if (asked === undefined) return lost(reply, visitor);
    const { order, trouble } = asked;
    settleCart(parts, visitor.cart);
    const state = stateOf(order);
    return sendShopPage(reply, {
      ...frameOf(parts, visitor),
      title: shopWords[visitor.language].outcome[state].title,
      main: orderMain(visitor, order, trouble),
      refresh: state === 'waiting' ? lookEvery : undefined,
      live: liveAt(`/shop/return/${order.id}`),
    });
  });
  app.get<Returning>('/shop/return/:order/parts', async (request, reply) => {
    const asked = await askedOrder(request);
    if (asked === undefined) return reply.callNotFound();
    const visitor = visitorOf(request, reply);
    settleCart(parts, visitor.cart);
    const part = orderPart(visitor, asked.order, asked.trouble);
    return sendShopParts(reply, html`${cartCount(frameOf(parts, visitor))}${part}`);
  });
  app.get<Named>('/shop/return/:order/events', (request, reply) => {
    const { order } = request.params;
    if (orders.get(order) === undefined) return reply.callNotFound();
    streamChanges(request, reply, (changed) => orders.watch(order, changed));
    return reply;
  });
  app.post<Named>('/shop/return/:order/again', (request, reply) => {
    const visitor = visitorOf(request, reply);
    const order = orders.get(request.params.order);
    if (order === undefined) return lost(reply, visitor);
    settleCart(parts, visitor.cart);
    rememberCart(reply, visitor, carts.fill(visitor.cart, order.lines));
    return reply.redirect('/shop/cart', 303);
  });
}

function orderRoutes(app: FastifyInstance, { parts }: Handler): void {
  const { orders } = parts;
  app.get('/shop/orders', (request, reply) => {
    const visitor = visitorOf(request, reply);
    const main = ordersMain(visitor, orders.newest(ordersShown));
    const { ordersTitle } = shopWords[visitor.language];
    const frame = frameOf(parts, visitor);
    const live = liveAt('/shop/orders');
    return sendShopPage(reply, { ...frame, title: ordersTitle, current: '/shop/orders', main, live });
  });
  app.get('/shop/orders/parts', (request, reply) =>
    sendShopParts(reply, ordersPart(visitorOf(request, reply), orders.newest(ordersShown))),
  );
  app.get('/shop/orders/events', (request, reply) => {
    streamChanges(request, reply, (changed) => orders.watch(undefined, changed));
    return reply;
  });
}
