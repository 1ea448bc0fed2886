/**
 * The issuer's access control server over HTTP: where the network sends the customer's browser.
 * Invariant: the page and programs answer by one path (`Challenges`), and a page that is loaded again shows how the challenge
 * ended.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { languageOf } from '../pages/languages.ts';
import type { World } from '../world.ts';
import { type Challenge, type Challenges, challengeAnswers } from './challenges.ts';
import { sendQuestion, sendReturn, sendSilence, sendUnknown } from './issuer-page.ts';
import { findTransaction, type Orders } from './orders.ts';

export type IssuerParts = {
  readonly world: World;
  readonly challenges: Challenges;
  readonly orders: Orders;
  readonly merchant: string;
};

type AcsRequest = FastifyRequest<{ Params: { id: string }; Body: unknown }>;

/** Registers the routes on `scope`, whose prefix is /cardnet. */
export function issuerRoutes(scope: FastifyInstance, { world, challenges, orders, merchant }: IssuerParts): void {
  const sendState = (request: AcsRequest, reply: FastifyReply, challenge: Challenge) => {
    const language = languageOf(request);
    if (challenge.fields !== undefined)
      return sendReturn(reply, language, challenge.redirectResponseUrl, challenge.fields);
    const order = orders.find(challenge.orderId);
    const transaction = order && findTransaction(order, challenge.transactionId);
    if (transaction === undefined) return sendUnknown(reply, language);
    return sendQuestion(reply, language, { challenge, transaction, merchant, now: world.now() });
  };
  const show = (request: AcsRequest, reply: FastifyReply) => {
    const challenge = challenges.find(request.params.id);
    return challenge === undefined ? sendUnknown(reply, languageOf(request)) : sendState(request, reply, challenge);
  };

  // The 3-D Secure method: the real one inspects the browser, invisibly.
  scope.post('/acs/method', (_request, reply) => reply.type('text/html; charset=utf-8').send(''));
  scope.post('/acs/:id', show);
  scope.get('/acs/:id', show);
  scope.post('/acs/:id/answer', (request: AcsRequest, reply) => {
    const { id } = request.params;
    const given = request.body instanceof URLSearchParams ? request.body.get('answer') : undefined;
    const answer = challengeAnswers.find((one) => one === given);
    if (answer !== undefined) challenges.answer(id, answer);
    const challenge = challenges.find(id);
    if (challenge !== undefined && given === 'timeout' && challenge.fields === undefined)
      return sendSilence(reply, languageOf(request), challenge);
    return show(request, reply);
  });
}
