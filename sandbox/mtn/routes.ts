/**
 * MTN MoMo's Open API over HTTP, collections and disbursements (upstreams §1.2 to §1.5), mounted under /mtn.
 * Invariant: every path of every product is here; each answer is the product's own.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type FaultHooks, leaveHanging } from '../control/fault-hooks.ts';
import { type Product, refusal, type Said } from './product.ts';
import { badRequest, notFound } from './request.ts';

/** Registers the routes on `scope`, whose prefix is /mtn. */
export function mtnRoutes(scope: FastifyInstance, products: readonly Product[], hooks: FaultHooks): void {
  readJsonLeniently(scope);
  for (const product of products) productRoutes(scope, product, hooks);
}

function tell(reply: FastifyReply, said: Said | 'silence'): FastifyReply {
  if (said === 'silence') {
    leaveHanging(reply);
    return reply;
  }
  const { status, json } = said;
  if (json !== undefined) reply.type('application/json; charset=utf-8');
  return reply.code(status).send(json);
}

function productRoutes(scope: FastifyInstance, product: Product, hooks: FaultHooks): void {
  const root = `/${product.name}/v1_0`;
  for (const path of [`/${product.name}/token`, `/${product.name}/token/`])
    scope.post(path, hooks, ({ headers }, reply) => tell(reply, product.giveToken(headers)));
  scope.post(`${root}/${product.resource}`, hooks, ({ headers, body }, reply) =>
    tell(reply, product.take(headers, body)),
  );
  scope.get<{ Params: { reference: string } }>(
    `${root}/${product.resource}/:reference`,
    hooks,
    ({ headers, params }, reply) => tell(reply, product.find(headers, params.reference)),
  );
  scope.get<{ Params: { msisdn: string } }>(
    `${root}/accountholder/msisdn/:msisdn/active`,
    hooks,
    ({ headers, params }, reply) => tell(reply, product.findHolder(headers, params.msisdn)),
  );
}

/** MTN accepts an empty body under any content type, and answers malformed JSON in its own shape. */
function readJsonLeniently(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  // Named explicitly besides the star: a type that only the star matches is looked up again on each request.
  scope.addContentTypeParser(['application/json', '*'], { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body.toString()));
    } catch {
      done(Object.assign(new Error('not JSON'), { statusCode: 400 }));
    }
  });
  scope.setErrorHandler((_error, _request, reply) => tell(reply, refusal(badRequest('The body is not valid JSON.'))));
  scope.setNotFoundHandler((_request, reply) => tell(reply, refusal(notFound)));
}
