/**
 * The virtual phone for programs (contract §11), and the route that takes text messages.
 * Invariant: every error is JSON `{error, message}`; the shapes of the contract never lose a field.
 */
import { randomUUID } from 'node:crypto';
import { Type } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { FaultHooks } from '../control/fault-hooks.ts';
import { type AnswerResult, digitsOf, type Phones, type Prompt } from './phones.ts';

/** The default Bearer secret of POST /sms. It protects nothing. */
export const sandboxSmsSecret = 'sandbox-sms';

/** A prompt as programs read it: the contract's fields first, then the additional ones. */
function presentPrompt(prompt: Prompt) {
  const { id, carrier, amount, currency, merchant, status, text, at, expires_at, decides_by_itself } = prompt;
  return {
    id,
    carrier,
    amount,
    currency,
    merchant,
    status,
    text,
    at: new Date(at).toISOString(),
    expires_at: new Date(expires_at).toISOString(),
    decides_by_itself,
  };
}

const refusals = {
  unknown: { status: 404, message: 'This phone has no such prompt.' },
  already_answered: { status: 409, message: 'This prompt was answered before, or it expired.' },
  decides_by_itself: {
    status: 409,
    message: 'A number with this ending decides by itself; nobody can answer on its phone.',
  },
  wrong_pin: { status: 400, message: 'Wrong PIN. The PIN of every sandbox phone is 0000.' },
} as const;

export function sendAnswer(reply: FastifyReply, result: AnswerResult): FastifyReply {
  if (result.kind === 'answered') return reply.send(presentPrompt(result.prompt));
  const { status, message } = refusals[result.kind];
  const left = result.kind === 'wrong_pin' ? { attempts_left: result.left } : {};
  return reply.code(status).send({ error: result.kind, message, ...left });
}

export function phoneNotFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .send({ error: 'unknown_phone', message: 'A phone number has 6 to 15 digits, with its country code.' });
}

export type PhoneApiParts = {
  readonly phones: Phones;
  readonly smsHooks: FaultHooks;
  readonly smsSecret: string;
};

const smsBody = Type.Object({
  to: Type.String({ maxLength: 32 }),
  text: Type.String({ minLength: 1, maxLength: 1_600 }),
});

export function phoneApi(app: FastifyInstance, parts: PhoneApiParts): void {
  const { phones, smsHooks, smsSecret } = parts;

  app.get<{ Params: { msisdn: string } }>('/phone/:msisdn/state', (request, reply) => {
    const msisdn = digitsOf(request.params.msisdn);
    if (msisdn === undefined) return phoneNotFound(reply);
    const { prompts, messages } = phones.read(msisdn);
    return reply.header('cache-control', 'no-store').send({
      prompts: prompts.map(presentPrompt),
      messages: messages.map(({ at, text, code }) => ({ at: new Date(at).toISOString(), text, code })),
    });
  });

  app.post<{ Body: { to: string; text: string } }>(
    '/sms',
    { ...smsHooks, schema: { body: smsBody } },
    (request, reply) => {
      if (request.headers.authorization !== `Bearer ${smsSecret}`)
        return reply
          .code(401)
          .send({ error: 'unauthorized', message: 'Send Authorization: Bearer with the SMS secret.' });
      const msisdn = digitsOf(request.body.to);
      if (msisdn === undefined) return phoneNotFound(reply);
      phones.message(msisdn, request.body.text);
      return reply.code(202).send({ id: `sms_${randomUUID()}` });
    },
  );
}
