/**
 * The card network's REST API over HTTP (Mastercard Gateway, JSON), mounted under /cardnet.
 * Invariant: nothing is read or done without the right credentials, and a request that is answered with an error changed nothing.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FaultHooks } from '../control/fault-hooks.ts';
import { wireJson } from './amounts.ts';
import type { Operations } from './operations.ts';
import { newSessionBody, orderBody, type Presented, sessionBody, timedOutBody, transactionBody } from './present.ts';
import type { Sessions } from './sessions.ts';
import { type Body, bodyOf, CardnetError, errorBody, notAllowed, notFound, unsupported } from './wire.ts';

export type CardnetCredentials = { readonly merchantId: string; readonly apiPassword: string };

/** The credentials that the sandbox accepts unless others are handed in. They protect nothing. */
export const sandboxCardnetCredentials: CardnetCredentials = {
  merchantId: 'TESTMBONGO',
  apiPassword: 'sandbox-cardnet-password',
};

export type CardnetApiParts = {
  readonly sessions: Sessions;
  readonly operations: Operations;
  readonly credentials: CardnetCredentials;
  readonly hooks: FaultHooks;
  /** Where the browser behind a request reaches the card network. */
  readonly browserUrl: (request: FastifyRequest) => string;
};

/** The versions of the API that the network still serves. */
const oldestVersion = 57;
const newestVersion = 100;

const base = '/api/rest/version/:version/merchant/:merchant';
const transactionPath = `${base}/order/:order/transaction/:transaction`;

type Params = {
  readonly version: string;
  readonly merchant: string;
  readonly session: string;
  readonly order: string;
  readonly transaction: string;
};
type ApiRequest = FastifyRequest<{ Params: Params; Body: unknown }>;

function send(reply: FastifyReply, body: Body, status = 200): FastifyReply {
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(wireJson(body));
}

/** Registers the routes on `scope`, whose prefix is /cardnet. */
export function cardnetApi(scope: FastifyInstance, parts: CardnetApiParts): void {
  const { sessions, operations, credentials, hooks } = parts;
  answerInItsWords(scope);
  const { merchantId, apiPassword } = credentials;
  const basic = `Basic ${Buffer.from(`merchant.${merchantId}:${apiPassword}`).toString('base64')}`;

  const admit = ({ headers, params }: ApiRequest): Presented => {
    if (headers.authorization !== basic || params.merchant !== merchantId) throw notAllowed();
    const { version, merchant } = params;
    const known = /^\d{1,3}$/.test(version) && Number(version) >= oldestVersion && Number(version) <= newestVersion;
    if (!known) throw unsupported('version', `The API has the versions ${oldestVersion} to ${newestVersion}`);
    return { version, merchant };
  };

  scope.post(`${base}/session`, hooks, (request: ApiRequest, reply) => {
    const to = admit(request);
    return send(reply, newSessionBody(sessions.create(bodyOf(request.body)), to), 201);
  });
  scope.put(`${base}/session/:session`, hooks, (request: ApiRequest, reply) => {
    const to = admit(request);
    return send(reply, sessionBody(sessions.update(request.params.session, bodyOf(request.body)), to));
  });
  scope.get(`${base}/session/:session`, hooks, (request: ApiRequest, reply) => {
    const to = admit(request);
    return send(reply, sessionBody(sessions.find(request.params.session), to));
  });

  scope.put(transactionPath, hooks, (request: ApiRequest, reply) => {
    const to = admit(request);
    const { order: orderId, transaction: transactionId, merchant } = request.params;
    const body = bodyOf(request.body);
    const browserUrl = parts.browserUrl(request);
    const { order, transaction, created, answer } = operations.perform({
      orderId,
      transactionId,
      merchant,
      body,
      browserUrl,
    });
    if (answer === 'lost') {
      reply.hijack();
      request.raw.socket.destroy();
      return reply;
    }
    const status = created ? 201 : 200;
    const present = answer === 'timed_out' ? timedOutBody : transactionBody;
    return send(reply, present(order, transaction, to), status);
  });
  scope.get(transactionPath, hooks, (request: ApiRequest, reply) => {
    const to = admit(request);
    const { order, transaction } = operations.readTransaction(request.params.order, request.params.transaction);
    return send(reply, transactionBody(order, transaction, to));
  });
  scope.get(`${base}/order/:order`, hooks, (request: ApiRequest, reply) => {
    const to = admit(request);
    return send(reply, orderBody(operations.readOrder(request.params.order), to));
  });
}

/** Accepts JSON under any content type, and answers every error in the network's own shape. */
function answerInItsWords(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body.toString()));
    } catch {
      // The parser's own message would quote the body, which may hold card data.
      done(new CardnetError('INVALID_REQUEST', 'Json encoded payload error: the body is not valid JSON.'));
    }
  });
  scope.setErrorHandler<FastifyError | CardnetError>((error, _request, reply) => {
    if (error instanceof CardnetError) return send(reply, error.body, error.status);
    const status = error.statusCode ?? 500;
    if (status < 500) return send(reply, errorBody('INVALID_REQUEST', error.message), status);
    console.error(error);
    return send(reply, errorBody('SERVER_FAILED', 'The sandbox itself failed.'), 500);
  });
  scope.setNotFoundHandler((_request, reply) => send(reply, notFound('resource').body, 404));
}
