/**
 * Applies the drawn faults to real HTTP requests.
 * Invariant: drop, refuse and error strike before the handler runs, so nothing was taken; a lost answer strikes after it.
 */
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { World } from '../world.ts';
import type { Faults, Upstream } from './faults.ts';

export type FaultHooks = {
  readonly onRequest: (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;
  readonly onSend: (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload: unknown) => void,
  ) => void;
};

/** What an upstream answers, in its own words, when it refuses (503) or fails (500) before anything is taken. */
export type FaultBodies = { readonly refuse: object; readonly error: object };

const usualBodies: FaultBodies = {
  refuse: { code: 'SERVICE_UNAVAILABLE', message: 'Service temporarily unavailable, try again later.' },
  error: { code: 'INTERNAL_PROCESSING_ERROR', message: 'An internal error occurred while processing.' },
};

/** Leaves the caller waiting: the socket stays open and nothing is ever written to it. */
export function leaveHanging(reply: FastifyReply): void {
  reply.hijack();
}

/** Route hooks for one upstream, to be spread into each of its routes. */
export function faultHooks(upstream: Upstream, faults: Faults, world: World, bodies = usualBodies): FaultHooks {
  const losesAnswer = new WeakSet<FastifyRequest>();

  return {
    onRequest: (request, reply, done) => {
      const fate = faults.drawRequest(upstream);
      const strike = () => {
        if (fate.answer_lost) losesAnswer.add(request);
        if (fate.end === 'none') done();
        else if (fate.end === 'drop') leaveHanging(reply);
        else if (fate.end === 'refuse') reply.code(503).send(bodies.refuse);
        else reply.code(500).send(bodies.error);
      };
      if (fate.delay_ms > 0) world.schedule(fate.delay_ms, strike);
      else strike();
    },
    onSend: (request, _reply, payload, done) => {
      if (losesAnswer.has(request)) request.raw.socket.destroy();
      else done(null, payload);
    },
  };
}
