/**
 * The card network's controls for programs: the hosted form, the issuer's challenge, and attacks.
 * Invariant: a program can do exactly what a browser can, by the same rules; no answer repeats card data.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseAmount } from './amounts.ts';
import type { CardErrors, CardField } from './card-input.ts';
import { type Challenges, challengeAnswers } from './challenges.ts';
import type { Sessions } from './sessions.ts';

export type CardnetControlParts = { readonly sessions: Sessions; readonly challenges: Challenges };

/** Program-facing field names, by the names that the form's script uses. */
const fieldNames: Readonly<Record<CardField, string>> = {
  cardNumber: 'number',
  expiryMonth: 'expiry_month',
  expiryYear: 'expiry_year',
  securityCode: 'security_code',
  nameOnCard: 'name_on_card',
};

const cardFields: readonly CardField[] = ['cardNumber', 'expiryMonth', 'expiryYear', 'securityCode', 'nameOnCard'];

/** For each field at fault, the error in the gateway's own table: these are the contract's names, for programs. */
const faultNames: Readonly<Record<CardField, readonly [code: string, name: string]>> = {
  cardNumber: ['1106', 'INVALID_CARD_NUMBER'],
  expiryMonth: ['1107', 'INVALID_CARD_EXPIRY'],
  expiryYear: ['1107', 'INVALID_CARD_EXPIRY'],
  securityCode: ['1108', 'INVALID_CARD_CVV'],
  nameOnCard: ['1110', 'INVALID_FIELD_FORMAT'],
};

function valuesIn(body: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(typeof body === 'object' && body !== null ? body : {}));
}

function fieldErrors(errors: CardErrors): Record<string, string> {
  return Object.fromEntries(
    cardFields.flatMap((field) => {
      const error = errors[field];
      return error === undefined ? [] : [[fieldNames[field], error]];
    }),
  );
}

/** The error of the first field at fault. */
function firstFault(errors: CardErrors): { error_code?: string; error_name?: string } {
  const first = cardFields.find((field) => errors[field] !== undefined);
  if (first === undefined) return {};
  const [error_code, error_name] = faultNames[first];
  return { error_code, error_name };
}

function refuse(reply: FastifyReply, status: number, error: string, message: string): FastifyReply {
  return reply.code(status).send({ error, message });
}

export function cardnetControl(app: FastifyInstance, { sessions, challenges }: CardnetControlParts): void {
  app.post<{ Params: { session: string } }>('/control/cardnet/sessions/:session', (request, reply) => {
    const values = valuesIn(request.body);
    const input = Object.fromEntries(cardFields.map((field) => [field, values.get(fieldNames[field])]));
    const result = sessions.fill(request.params.session, input);
    if (result.kind === 'ok') return reply.send({ session_id: result.session.id, status: 'ok' });
    if (result.kind === 'unknown') return refuse(reply, 404, 'unknown_session', 'There is no such session.');
    if (result.kind === 'limit_reached')
      return refuse(reply, 409, 'limit_reached', 'The session was updated as often as its authenticationLimit allows.');
    const fields = fieldErrors(result.errors);
    const message = `Not accepted: ${Object.entries(fields)
      .map(([name, error]) => `${name} is ${error}`)
      .join(', ')}.`;
    return reply.code(400).send({ error: 'fields_in_error', ...firstFault(result.errors), message, fields });
  });

  app.post<{ Params: { transaction: string } }>('/control/cardnet/challenges/:transaction', (request, reply) => {
    const given = valuesIn(request.body).get('result');
    const answer = challengeAnswers.find((one) => one === given);
    if (answer === undefined)
      return refuse(reply, 400, 'invalid_result', 'The field result must be "pass", "fail" or "cancel".');
    const challenge = challenges.findBy(request.params.transaction);
    const answered = challenge && challenges.answer(challenge.id, answer);
    if (answered === undefined || answered.kind === 'unknown')
      return refuse(reply, 404, 'unknown_challenge', 'No challenge was ever opened for this transaction.');
    if (answered.kind === 'closed')
      return refuse(reply, 409, 'not_open', 'The challenge was answered otherwise before, or its time is over.');
    // Only the fields: callers post them as they are.
    return reply.send(answered.fields);
  });

  app.post('/control/cardnet/attacks', (request, reply) => {
    const values = valuesIn(request.body);
    const orderId = values.get('order_id');
    const amount = values.get('tamper_amount');
    // Three digits at most: the currency is the session's, and an attacker does not care.
    if (typeof orderId !== 'string' || typeof amount !== 'string' || parseAmount(amount, 'KWD') === undefined)
      return refuse(reply, 400, 'invalid_attack', 'Send order_id, and tamper_amount as decimal text such as "1.00".');
    const session = sessions.tamper(orderId, amount);
    if (session === undefined) return refuse(reply, 404, 'unknown_order', 'No session holds this order.');
    return reply.send({ order_id: orderId, session_id: session, amount });
  });
}
