/**
 * Inboxes over HTTP: the route that catches anything, the pages, and JSON for programs.
 * Invariant: catching costs the same whatever the inbox holds, and what it caught is never interpreted.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FaultHooks, leaveHanging } from '../control/fault-hooks.ts';
import type { Faults } from '../control/faults.ts';
import { streamChanges } from '../pages/events.ts';
import { opensPage, sendHtml, sendPage } from '../pages/layout.ts';
import { type Inboxes, isInboxName } from './inboxes.ts';
import { inboxList, inboxMain, inboxMessages } from './page.ts';

type Named = { Params: { name: string } };

export type InboxParts = { readonly inboxes: Inboxes; readonly faults: Faults; readonly hooks: FaultHooks };

/** The sandbox's own address as this caller sees it. */
function rootOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

function badName(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .send({ error: 'unknown_inbox', message: 'An inbox name has 1 to 64 letters, digits, dots and dashes.' });
}

function headersOf(request: FastifyRequest): Record<string, string> {
  const entries = Object.entries(request.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return Object.fromEntries(entries);
}

/** The catching route alone: in its own scope, because it takes every content type as bytes. */
export function inboxDoor(scope: FastifyInstance, { inboxes, faults, hooks }: InboxParts): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.post<Named>('/inbox/:name', hooks, (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) return badName(reply);
    const plan = faults.plans().inbox;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const answered = plan.hang ? null : (plan.status ?? 200);
    inboxes.take(name, { headers: headersOf(request), body, answered });
    return answered === null ? leaveHanging(reply) : reply.code(answered).send();
  });
}

export function inboxPages(app: FastifyInstance, inboxes: Inboxes): void {
  app.get<{ Querystring: { name?: unknown } }>('/inbox', (request, reply) => {
    const { name } = request.query;
    if (typeof name === 'string' && isInboxName(name)) return reply.redirect(`/inbox/${name}`, 303);
    return sendInboxes(request, reply, { inboxes, wrong: typeof name === 'string' ? name : undefined });
  });
  app.get<Named & { Querystring: { secret?: unknown } }>('/inbox/:name', (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) {
      return opensPage(request) ? sendInboxes(request, reply.code(404), { inboxes, wrong: name }) : badName(reply);
    }
    const address = `${rootOf(request)}/inbox/${name}`;
    const main = inboxMain({ view: inboxes.read(name), address, badSecret: request.query.secret === 'refused' });
    return sendPage(reply, {
      title: `Inbox ${name}`,
      language: 'en',
      current: '/inbox',
      sheet: 'tools',
      scripts: ['inbox'],
      main,
    });
  });
  app.get<Named>('/inbox/:name/list', (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) return badName(reply);
    return sendHtml(reply, inboxMessages(inboxes.read(name), `${rootOf(request)}/inbox/${name}`));
  });
  app.get<Named>('/inbox/:name/events', (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) return badName(reply);
    streamChanges(request, reply, (changed) => inboxes.watch(name, changed));
    return reply;
  });
  inboxChanges(app, inboxes);
}

/** The list; `wrong`: what was given as an inbox's name, and cannot be one. */
function sendInboxes(
  request: FastifyRequest,
  reply: FastifyReply,
  { inboxes, wrong }: { readonly inboxes: Inboxes; readonly wrong: string | undefined },
): FastifyReply {
  const main = inboxList(inboxes.list(), rootOf(request), wrong);
  return sendPage(reply, { title: 'Inboxes', language: 'en', current: '/inbox', sheet: 'tools', main });
}

/** What programs and the page's forms read and change. */
function inboxChanges(app: FastifyInstance, inboxes: Inboxes): void {
  app.get<Named>('/inbox/:name/messages', (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) return badName(reply);
    const messages = inboxes.read(name).messages.map(({ id, at, headers, body, answered, attempt, verdict, why }) => {
      return {
        id,
        at: new Date(at).toISOString(),
        verdict,
        why,
        attempt,
        answered,
        headers,
        body: body.toString('utf8'),
      };
    });
    return reply.header('cache-control', 'no-store').send({ name, messages });
  });
  app.delete<Named>('/inbox/:name/messages', (request, reply) => {
    inboxes.empty(request.params.name);
    return reply.code(204).send();
  });
  app.post<Named>('/inbox/:name/clear', (request, reply) => {
    if (!isInboxName(request.params.name)) return badName(reply);
    inboxes.empty(request.params.name);
    return reply.redirect(`/inbox/${request.params.name}`, 303);
  });
  app.put<Named>('/inbox/:name/secret', (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) return badName(reply);
    const { secret } = { secret: undefined, ...(typeof request.body === 'object' ? request.body : {}) };
    if (typeof secret === 'string' && inboxes.setSecret(name, secret)) return reply.code(204).send();
    return reply.code(400).send({ error: 'invalid_secret', message: 'A secret is whsec_ followed by base64.' });
  });
  app.post<Named>('/inbox/:name/secret', (request, reply) => {
    const { name } = request.params;
    if (!isInboxName(name)) return badName(reply);
    const given = request.body instanceof URLSearchParams ? request.body.get('secret') : null;
    const taken = given !== null && inboxes.setSecret(name, given);
    return reply.redirect(`/inbox/${name}${taken ? '' : '?secret=refused'}`, 303);
  });
}
