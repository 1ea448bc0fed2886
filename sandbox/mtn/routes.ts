/**
 * MTN MoMo's Open API over HTTP, collections and disbursements (upstreams §1.2 to §1.5), mounted under /mtn.
 * Invariant: credentials are checked before anything else, and a request that is answered with an error was not taken.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { behaviourOf, payoutBehaviourOf } from '../carriers/endings.ts';
import { type FaultHooks, leaveHanging } from '../control/fault-hooks.ts';
import type { World } from '../world.ts';
import type { Movements, PartyName } from './movements.ts';
import {
  badRequest,
  down,
  duplicate,
  environmentError,
  isReference,
  notFound,
  parseMoneyRequest,
  type WireError,
} from './request.ts';
import { createTokens, type MtnCredentials, tokenLife } from './tokens.ts';

export type MtnParts = {
  readonly world: World;
  readonly collections: Movements;
  readonly disbursements: Movements;
  readonly collectionCredentials: MtnCredentials;
  readonly disbursementCredentials: MtnCredentials;
  readonly hooks: FaultHooks;
};

/** One product: its part of the paths, and what lies behind them. */
type Product = {
  readonly name: 'collection' | 'disbursement';
  readonly resource: 'requesttopay' | 'transfer';
  readonly party: PartyName;
  readonly movements: Movements;
  readonly credentials: MtnCredentials;
  /** Undefined: the carrier is down for that number. */
  readonly hasAccount: (msisdn: string) => boolean | undefined;
};

function refuse(reply: FastifyReply, error: WireError): FastifyReply {
  return reply.code(error.status).send(error.body);
}

/** Registers the routes on `scope`, whose prefix is /mtn. */
export function mtnRoutes(scope: FastifyInstance, parts: MtnParts): void {
  readJsonLeniently(scope);
  productRoutes(scope, parts, {
    name: 'collection',
    resource: 'requesttopay',
    party: 'payer',
    movements: parts.collections,
    credentials: parts.collectionCredentials,
    hasAccount: (msisdn) => (behaviourOf(msisdn).answer === 'down' ? undefined : true),
  });
  productRoutes(scope, parts, {
    name: 'disbursement',
    resource: 'transfer',
    party: 'payee',
    movements: parts.disbursements,
    credentials: parts.disbursementCredentials,
    hasAccount: (msisdn) => {
      const { answer, decision } = payoutBehaviourOf(msisdn);
      return answer === 'down' ? undefined : decision !== 'no_account';
    },
  });
}

function productRoutes(scope: FastifyInstance, { world, hooks }: MtnParts, product: Product): void {
  const { movements, credentials } = product;
  const tokens = createTokens(world, credentials);
  const root = `/${product.name}/v1_0`;

  const subscriptionError = (request: FastifyRequest): WireError | undefined => {
    const key = request.headers['ocp-apim-subscription-key'];
    if (key === credentials.subscriptionKey) return undefined;
    const why =
      key === undefined
        ? 'missing subscription key. Make sure to include'
        : 'invalid subscription key. Make sure to provide';
    return {
      status: 401,
      body: { statusCode: 401, message: `Access denied due to ${why} a valid key for an active subscription.` },
    };
  };
  const accessError = (request: FastifyRequest): WireError | undefined => {
    const denied = subscriptionError(request);
    if (denied !== undefined) return denied;
    if (tokens.accepts(request.headers.authorization)) return environmentError(request.headers);
    return { status: 401, body: { error: 'invalid_token', message: 'Access token is missing, unknown or expired.' } };
  };

  const giveToken = (request: FastifyRequest, reply: FastifyReply) => {
    const denied = subscriptionError(request);
    if (denied !== undefined) return refuse(reply, denied);
    const token = tokens.issue(request.headers.authorization);
    if (token === undefined) return refuse(reply, { status: 401, body: { error: 'login_failed' } });
    return reply.send({ access_token: token, token_type: 'access_token', expires_in: tokenLife });
  };
  scope.post(`/${product.name}/token`, hooks, giveToken);
  scope.post(`/${product.name}/token/`, hooks, giveToken);

  scope.post(`${root}/${product.resource}`, hooks, (request, reply) => {
    const denied = accessError(request);
    if (denied !== undefined) return refuse(reply, denied);
    const parsed = parseMoneyRequest(request.headers, request.body, product.party);
    if (parsed.kind === 'error') return refuse(reply, parsed.error);
    const taken = movements.take(parsed.request);
    if (taken === 'down') return refuse(reply, down);
    if (taken === 'duplicate') return refuse(reply, duplicate);
    if (taken === 'taken_unanswered') return leaveHanging(reply);
    return reply.code(202).send();
  });

  scope.get<{ Params: { reference: string } }>(`${root}/${product.resource}/:reference`, hooks, (request, reply) => {
    const denied = accessError(request);
    if (denied !== undefined) return refuse(reply, denied);
    const { reference } = request.params;
    if (!isReference(reference)) return refuse(reply, badRequest('The reference must be a UUID version 4.'));
    const status = movements.find(reference.toLowerCase());
    return status === undefined ? refuse(reply, notFound) : reply.send(status);
  });

  scope.get<{ Params: { msisdn: string } }>(`${root}/accountholder/msisdn/:msisdn/active`, hooks, (request, reply) => {
    const denied = accessError(request);
    if (denied !== undefined) return refuse(reply, denied);
    const { msisdn } = request.params;
    if (!/^\d{8,15}$/.test(msisdn))
      return refuse(reply, badRequest('The number must have its country code and no "+".'));
    const result = product.hasAccount(msisdn);
    return result === undefined ? refuse(reply, down) : reply.send({ result });
  });
}

/** MTN takes an empty body under any content type, and answers malformed JSON in its own shape. */
function readJsonLeniently(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body.toString()));
    } catch {
      done(Object.assign(new Error('not JSON'), { statusCode: 400 }));
    }
  });
  scope.setErrorHandler((_error, _request, reply) => refuse(reply, badRequest('The body is not valid JSON.')));
  scope.setNotFoundHandler((_request, reply) => refuse(reply, notFound));
}
