/**
 * Joins the card network's parts: API, hosted form, issuer and controls over one set of sessions and orders.
 * Invariant: two networks in one process share nothing but the key that tells cards apart.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Book } from '../carriers/book.ts';
import { type FaultBodies, faultHooks } from '../control/fault-hooks.ts';
import type { Faults } from '../control/faults.ts';
import type { Diary } from '../diary.ts';
import type { World } from '../world.ts';
import { createChallenges } from './challenges.ts';
import { cardnetControl } from './control.ts';
import { formRoutes } from './form-routes.ts';
import { issuerRoutes } from './issuer-routes.ts';
import { createOperations } from './operations.ts';
import { createOrders, findTransaction } from './orders.ts';
import { type CardnetCredentials, cardnetApi } from './routes.ts';
import { createSessions } from './sessions.ts';
import { errorBody } from './wire.ts';

export type CardnetParts = {
  readonly world: World;
  readonly book: Book;
  /** Records orders and the operations on them; hosted forms, and the cards in them, are not recorded. */
  readonly diary: Diary;
  readonly faults: Faults;
  readonly credentials: CardnetCredentials;
  /** Signs what the customer's browser posts to the gateway. */
  readonly callbackSecret: string;
  /** Where browsers reach /cardnet; if undefined, localhost at the port that the request came to. */
  readonly browserUrl: string | undefined;
  /** The compiled `session.js`; undefined if the project was not built. */
  readonly script: string | undefined;
};

const faultBodies: FaultBodies = {
  refuse: errorBody('SERVER_BUSY', 'The gateway is too busy to take the request. Try again later.'),
  error: errorBody('SERVER_FAILED', 'The gateway failed while it processed the request.'),
};

export async function registerCardnet(app: FastifyInstance, parts: CardnetParts): Promise<void> {
  const { world, book, diary, faults, script, credentials, callbackSecret } = parts;
  const sessions = createSessions(world);
  const orders = createOrders({ orders: diary.chapter('card orders'), operations: diary.chapter('card operations') });
  // The process ended between recording the movement and recording its order, so no caller was told of either.
  book.forget(({ carrier, reference, external_id }) => {
    if (carrier !== 'cardnet') return false;
    const order = orders.find(reference);
    return order === undefined || findTransaction(order, external_id) === undefined;
  });
  const challenges = createChallenges({ world, callbackSecret });
  const operations = createOperations({ world, book, sessions, orders, challenges });
  // A different host from the gateway's, so that to browsers the fields have an origin of their own.
  const browserUrl = ({ socket }: FastifyRequest) => parts.browserUrl ?? `http://localhost:${socket.localPort}/cardnet`;

  const hooks = faultHooks('cardnet', faults, world, faultBodies);
  await app.register(async (scope) => cardnetApi(scope, { sessions, operations, credentials, hooks, browserUrl }), {
    prefix: '/cardnet',
  });
  await app.register(
    async (scope) => {
      formRoutes(scope, { sessions, merchantId: credentials.merchantId, script });
      issuerRoutes(scope, { world, challenges, orders, merchant: credentials.merchantId });
    },
    { prefix: '/cardnet' },
  );
  cardnetControl(app, { sessions, challenges });
}
