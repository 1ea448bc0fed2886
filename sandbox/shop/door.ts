/**
 * The shop for programs: where it is given its credential, and where the gateway's webhooks arrive.
 * Invariant: a webhook that does not verify changes nothing and is answered 401; the credential is accepted only from this
 * machine and never given out.
 */
import type { FastifyInstance } from 'fastify';
import { readKnown } from './account.ts';
import type { ShopParts } from './buying.ts';
import { verifyWebhook } from './merchant.ts';

const loopback = /^(127\.|::1$|::ffff:127\.)/;

/** In its own scope, because a signature covers the bytes exactly as they came. */
export function webhookDoor(scope: FastifyInstance, { desk, orders, world }: ShopParts): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  scope.post('/shop/webhooks', (request, reply) => {
    const known = desk.known();
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const event = known && verifyWebhook(known.account.webhook_secret, request.headers, body, world.now());
    if (event === undefined)
      return reply.code(401).send({ error: 'not_verified', message: 'No signature fits: is it our webhook secret?' });
    // Even a repeated or stale event, or one about a forgotten order, is acknowledged, so that it is not sent again.
    orders.heard(event, world.now());
    return reply.code(204).send();
  });
}

export function credentialDoor(app: FastifyInstance, { desk }: ShopParts): void {
  app.put('/shop/credential', (request, reply) => {
    if (!loopback.test(request.ip))
      return reply
        .code(403)
        .send({ error: 'not_local', message: 'The shop is told its credential on its own machine.' });
    const reading = readKnown(request.body, `${request.protocol}://${request.host}`);
    if ('wrong' in reading) return reply.code(400).send({ error: 'invalid_credential', message: reading.wrong });
    desk.tell(reading.known);
    return reply.code(204).send();
  });
}
