/**
 * Assembles one sandbox: the pretend carriers, card network, phones, inboxes, controls and shop behind one HTTP server.
 * Invariant: a sandbox shares nothing with another one in the same process, and reads time only from the world handed in.
 */
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { sandboxCallbackSecret } from './cardnet/callback.ts';
import { registerCardnet } from './cardnet/cardnet.ts';
import { type CardnetCredentials, sandboxCardnetCredentials } from './cardnet/routes.ts';
import { type Book, createBook } from './carriers/book.ts';
import { defaultSettings, type Settings } from './carriers/settings.ts';
import { controlApi } from './control/api.ts';
import { faultHooks } from './control/fault-hooks.ts';
import { createFaults, type Faults } from './control/faults.ts';
import { controlPage } from './control/page.ts';
import { type Diary, noDiary } from './diary.ts';
import { createInboxes } from './inbox/inboxes.ts';
import { inboxDoor, inboxPages } from './inbox/routes.ts';
import { createCallbackSender } from './mtn/callback-sender.ts';
import { createCollections } from './mtn/collections.ts';
import { createDisbursements } from './mtn/disbursements.ts';
import { registerMtn } from './mtn/mtn.ts';
import { type MtnCredentials, sandboxCredentials } from './mtn/tokens.ts';
import { assetRoutes, readAssets } from './pages/assets.ts';
import { opensPage, sendLost } from './pages/layout.ts';
import { startPage } from './pages/start.ts';
import { phoneApi, sandboxSmsSecret } from './phone/api.ts';
import { createPhones, type Phones } from './phone/phones.ts';
import { phoneRoutes } from './phone/routes.ts';
import type { Orders } from './shop/orders.ts';
import { registerShop } from './shop/routes.ts';
import { realWorld, type World } from './world.ts';

export type SandboxOptions = {
  /** Seeds every random fault; the same seed repeats a run. */
  readonly seed: string;
  readonly now?: World['now'];
  readonly schedule?: World['schedule'];
  readonly mtnCredentials?: MtnCredentials;
  readonly mtnDisbursementCredentials?: MtnCredentials;
  readonly cardnetCredentials?: CardnetCredentials;
  /** Signs what the customer's browser posts to the gateway after a challenge. */
  readonly cardnetCallbackSecret?: string;
  /** Where browsers reach the card network; `http://localhost:<port>/cardnet` unless given. */
  readonly browserUrl?: string;
  readonly smsSecret?: string;
  /** Verifies the webhooks of inboxes that were given no secret of their own. */
  readonly webhookSecret?: string;
  /** Where the networks record what they must remember across a restart; without one they forget everything. */
  readonly diary?: Diary;
  /** Where the gateway answers; used only for the links and commands that pages show. */
  readonly gatewayUrl?: string;
};

export type Sandbox = {
  /** Not yet listening; `app.close()` ends everything, open event streams included. */
  readonly app: FastifyInstance;
  readonly book: Book;
  readonly phones: Phones;
  readonly faults: Faults;
  readonly settings: Settings;
  /** What the demo shop has sold. */
  readonly orders: Orders;
};

export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const real = realWorld();
  const world: World = { now: options.now ?? real.now, schedule: options.schedule ?? real.schedule };
  const { diary = noDiary } = options;
  const book = createBook(diary.chapter('book'));
  const phones = createPhones(world);
  const settings = defaultSettings();
  const faults = createFaults(options.seed);
  const callbacks = createCallbackSender(faults);
  const carrier = { world, settings, book, phones, diary, sendCallback: callbacks.send };

  const app = createServer();
  app.addHook('onClose', () => callbacks.close());
  await registerMtn(app, {
    world,
    faults,
    collections: createCollections(carrier),
    disbursements: createDisbursements(carrier),
    collectionCredentials: options.mtnCredentials ?? sandboxCredentials.collection,
    disbursementCredentials: options.mtnDisbursementCredentials ?? sandboxCredentials.disbursement,
  });
  const assets = readAssets();
  const script = assets.get('cardnet-session.js')?.content;
  await registerCardnet(app, {
    world,
    book,
    diary,
    faults,
    script,
    credentials: options.cardnetCredentials ?? sandboxCardnetCredentials,
    callbackSecret: options.cardnetCallbackSecret ?? sandboxCallbackSecret,
    browserUrl: options.browserUrl,
  });
  phoneApi(app, {
    phones,
    smsHooks: faultHooks('sms', faults, world),
    smsSecret: options.smsSecret ?? sandboxSmsSecret,
  });
  phoneRoutes(app, phones, world);
  const inboxes = createInboxes(world, options.webhookSecret);
  const hooks = faultHooks('inbox', faults, world);
  await app.register(async (scope) => inboxDoor(scope, { inboxes, faults, hooks }));
  inboxPages(app, inboxes);
  controlApi(app, { book, settings, faults, startedAt: beginningOf(diary, world) });
  controlPage(app, { book, settings, faults });
  const gatewayUrl = options.gatewayUrl ?? 'http://127.0.0.1:8080';
  const orders = await registerShop(app, { world, gatewayUrl });
  startPage(app, gatewayUrl);
  assetRoutes(app, assets);
  return { app, book, phones, faults, settings, orders };
}

/** When the book began. A client that compares this carries on after a restart, and starts afresh with a new book. */
function beginningOf(diary: Diary, world: World): number {
  const { past, note } = diary.chapter<number>('begun');
  const [known] = past();
  if (known !== undefined) return known;
  const now = world.now();
  note(now);
  return now;
}

/** What was wrong with a request, and where only some values will do, which. */
function toldOf({ message, validation }: FastifyError): string {
  const allowed = validation?.flatMap(({ params: { allowedValues } }) => allowedValues ?? []) ?? [];
  const values = allowed.filter((value) => typeof value === 'string');
  return values.length > 0 ? `${message}: ${values.join(', ')}` : message;
}

/** A bare server whose errors are JSON `{error, message}`, but for a person who opens an address with nothing at it. It logs nothing, because it is in the path of load tests. */
function createServer(): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: 256 * 1024,
    forceCloseConnections: true,
    // The schemas are typed where they are written: that each is a schema need not be checked at every start (40 ms).
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, validateSchema: false } },
  });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(body.toString())),
  );
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const status = error.statusCode ?? 500;
    const message = status < 500 ? toldOf(error) : 'The sandbox itself failed.';
    if (status >= 500) console.error(error);
    return reply.code(status).send({ error: status < 500 ? 'bad_request' : 'internal_error', message });
  });
  app.setNotFoundHandler((request, reply) =>
    opensPage(request)
      ? sendLost(reply)
      : reply.code(404).send({ error: 'not_found', message: `Nothing answers ${request.method} here.` }),
  );
  return app;
}
