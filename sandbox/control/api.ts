/**
 * The sandbox's controls for programs: books, settings, seed and faults.
 * Invariant: reading changes nothing; an invalid value is refused as a whole, with the reason.
 */
import { Type } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Book, BookFilter } from '../carriers/book.ts';
import type { Settings } from '../carriers/settings.ts';
import { type FaultPlan, type Faults, type Upstream, upstreams } from './faults.ts';

export type ControlParts = { readonly book: Book; readonly settings: Settings; readonly faults: Faults };

/** `startedAt` is when this sandbox, and so its book, began. */
type ApiParts = ControlParts & { readonly startedAt: number };

const rate = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }));
const milliseconds = Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400_000 }));

const faultsBody = Type.Object({
  upstream: Type.Enum([...upstreams]),
  delay_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
  drop_rate: rate,
  refuse_rate: rate,
  error_rate: rate,
  refusal: Type.Optional(
    Type.Union([
      Type.Object({
        status: Type.Integer({ minimum: 400, maximum: 599 }),
        code: Type.String({ pattern: '^[A-Z][A-Z_]{0,79}$' }),
      }),
      Type.Null(),
    ]),
  ),
  answer_lost_rate: rate,
  duplicate_callback_rate: rate,
  lose_callback_rate: rate,
  status: Type.Optional(Type.Union([Type.Integer({ minimum: 200, maximum: 599 }), Type.Null()])),
  hang: Type.Optional(Type.Boolean()),
});

const settingsBody = Type.Object({
  auto_approve_ms: milliseconds,
  decline_ms: milliseconds,
  prompt_life_ms: milliseconds,
});

const seedBody = Type.Object({
  seed: Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Type.Integer()]),
});

const count = Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' }));
const pageQuery = Type.Object({ after: count, limit: count });

const MAX_ON_A_PAGE = 1_000;

const searchBody = Type.Object({
  external_ids: Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_ON_A_PAGE }),
});

function describeFaults(faults: Faults) {
  return { seed: faults.seed(), faults: faults.plans() };
}

export function controlApi(app: FastifyInstance, { book, settings, faults, startedAt }: ApiParts): void {
  bookApi(app, { book, startedAt });
  app.get('/control/settings', (_request, reply) => reply.send(settings));
  app.post<{ Body: Partial<Settings> }>('/control/settings', { schema: { body: settingsBody } }, (request, reply) => {
    const { auto_approve_ms, decline_ms, prompt_life_ms } = request.body;
    if (auto_approve_ms !== undefined) settings.auto_approve_ms = auto_approve_ms;
    if (decline_ms !== undefined) settings.decline_ms = decline_ms;
    if (prompt_life_ms !== undefined) settings.prompt_life_ms = prompt_life_ms;
    return reply.send(settings);
  });

  app.get('/control/seed', (_request, reply) => reply.send({ seed: faults.seed() }));
  app.post<{ Body: { seed: string | number } }>('/control/seed', { schema: { body: seedBody } }, (request, reply) => {
    faults.reseed(String(request.body.seed));
    return reply.send(describeFaults(faults));
  });

  app.get('/control/faults', (_request, reply) => reply.send(describeFaults(faults)));
  app.delete('/control/faults', (_request, reply) => {
    faults.clear();
    return reply.send(describeFaults(faults));
  });
  app.post<{ Body: Partial<FaultPlan> & { upstream: Upstream } }>(
    '/control/faults',
    { schema: { body: faultsBody } },
    (request, reply) => {
      faults.set(request.body.upstream, faultChange(request.body));
      return reply.send(describeFaults(faults));
    },
  );
}

/** Picks only the known parts: unknown fields of the body must not get into a plan. */
function faultChange(body: Partial<FaultPlan>): Partial<FaultPlan> {
  const { delay_ms, drop_rate, refuse_rate, error_rate, refusal, answer_lost_rate } = body;
  const { duplicate_callback_rate, lose_callback_rate, status, hang } = body;
  return {
    ...(delay_ms === undefined ? {} : { delay_ms }),
    ...(drop_rate === undefined ? {} : { drop_rate }),
    ...(refuse_rate === undefined ? {} : { refuse_rate }),
    ...(error_rate === undefined ? {} : { error_rate }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(answer_lost_rate === undefined ? {} : { answer_lost_rate }),
    ...(duplicate_callback_rate === undefined ? {} : { duplicate_callback_rate }),
    ...(lose_callback_rate === undefined ? {} : { lose_callback_rate }),
    ...(status === undefined ? {} : { status }),
    ...(hang === undefined ? {} : { hang }),
  };
}

/** The whole book or, for auditors who poll, the part that is new to them. */
function bookApi(app: FastifyInstance, { book, startedAt }: Pick<ApiParts, 'book' | 'startedAt'>): void {
  app.get<{ Querystring: BookFilter }>('/control/books', (request, reply) => {
    const { carrier, reference, msisdn } = request.query;
    const filter: BookFilter = {
      ...(typeof carrier === 'string' ? { carrier } : {}),
      ...(typeof reference === 'string' ? { reference } : {}),
      ...(typeof msisdn === 'string' ? { msisdn: msisdn.replace(/\D/g, '') } : {}),
    };
    return reply.header('cache-control', 'no-store').send(book.lines(filter));
  });

  app.get<{ Querystring: { after?: string; limit?: string } }>(
    '/control/books/page',
    { schema: { querystring: pageQuery } },
    (request, reply) => {
      const { after = '0', limit = '1000' } = request.query;
      const lines = book.page(Number(after), Math.min(Number(limit), MAX_ON_A_PAGE));
      return reply.header('cache-control', 'no-store').send({
        started_at: new Date(startedAt).toISOString(),
        size: book.size(),
        lines,
        repeated: book.repeated(),
      });
    },
  );
  app.post<{ Body: { external_ids: string[] } }>(
    '/control/books/search',
    { schema: { body: searchBody } },
    (request, reply) => reply.send({ lines: book.ofExternalIds(new Set(request.body.external_ids)) }),
  );
}
