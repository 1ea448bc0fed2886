/**
 * What a connector must make of upstreams that say more, less or something else than they document.
 *
 * Invariant: only words that an upstream documents approve, decline or say "not found"; everything else is `unknown`.
 */

import assert from 'node:assert/strict';
import {
  type AskedOrder,
  assertKind,
  type Check,
  type ConformanceWorld,
  type Documented,
  othersThan,
} from './conformance-world.ts';
import { MISBEHAVIOURS } from './scripted-upstream.ts';
import { type Stand, standBefore } from './stand.ts';

export function distrustChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return [...wordChecks<Order>(), ...strangerChecks<Order>(), ...misbehaviourChecks<Order>()];
}

/** What the upstream documents, and what comes close to it. */
function wordChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'everything that the upstream documents is translated',
      run: (world) =>
        withDocumented(world, async (stand, asked, { name, to, means }) => {
          const answer = await ask(stand, to, asked);
          const reason = 'reason' in answer ? answer.reason : undefined;
          assert.equal(answer.kind, means.kind, `${name}: ${answer.kind}`);
          if (means.reason !== undefined) assert.equal(reason, means.reason, name);
          assert.equal(answer.kind === 'not_sent' ? answer.lasting : undefined, means.lasting, name);
        }),
    },
    {
      name: 'the documents say how an order is accepted, approved and declined',
      async run({ order, documented }) {
        const kinds = documented(order('completes')).map(({ to, means }) => `${to}: ${means.kind}`);
        for (const kind of ['inquire: waiting', 'inquire: approved', 'inquire: declined'])
          assert.ok(kinds.includes(kind), `nothing documented means ${kind}`);
      },
    },
    {
      name: 'a documented answer about another order is not believed',
      run: (world) =>
        withDocumented(world, async (stand, asked, { name, to, means: { kind } }) => {
          if (kind === 'not_found' || (to === 'start' && kind !== 'approved')) return;
          const may: readonly Kind[] = to === 'start' ? ['waiting', 'unknown'] : ['unknown'];
          for (const other of othersThan(asked, world.order('completes')))
            assertKind(await ask(stand, to, other), may, name);
        }),
    },
    {
      name: 'an unfamiliar word in an answer neither approves, nor declines, nor denies that there is an order',
      async run(world) {
        let doubted = 0;
        await withDocumented(world, async (stand, asked, documented) => {
          const { name, to, status, body, means } = documented;
          for (const [where, altered] of alterations(body, 'MOON_IS_FULL')) {
            stand.reply = { status, body: altered };
            const answer = await ask(stand, to, asked);
            if (to === 'inquire') assertKind(answer, STILL[means.kind], `${name}, with another ${where}`);
            else if (means.kind !== 'approved') assert.notEqual(answer.kind, 'approved', `${name}, another ${where}`);
            if (means.kind === 'approved' && answer.kind === 'unknown') doubted += 1;
          }
        });
        assert.ok(doubted > 0, 'no word of an answer that approves matters');
      },
    },
    {
      name: 'what an upstream repeats of a number or a key is kept out of answers and logs',
      run: (world) =>
        withDocumented(world, async (stand, asked, { to, status, body }) => {
          const quoted = [asked.msisdn, ...world.secrets].join(' ');
          for (const [, altered] of alterations(body, `no such account: ${quoted}`)) {
            stand.reply = { status, body: altered };
            await ask(stand, to, asked);
          }
        }),
    },
  ];
}

type Kind = Documented['means']['kind'];

/** What an inquiry may answer if one word of a documented answer of that meaning is replaced by an unfamiliar one. */
const STILL: Readonly<Record<Kind, readonly Kind[]>> = {
  approved: ['approved', 'unknown'],
  declined: ['declined', 'unknown'],
  waiting: ['waiting', 'unknown'],
  not_found: ['not_found', 'unknown'],
  unknown: ['unknown'],
  not_sent: ['unknown'],
};

/** An answer by somebody else on the way to the upstream, or in a form that the upstream does not have. */
function strangerChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  const page = '<!doctype html><title>404 PAID SUCCESSFUL</title>';
  return [
    {
      name: 'a proxy’s page is no answer of the upstream’s, whatever its status',
      run: (world) =>
        standBefore(world, page404(page), async (stand) => {
          for (const status of STATUSES) {
            stand.reply = { status, body: page };
            stand.asked.splice(0);
            const answer = await stand.connector.start(world.order('completes'));
            const isRefusal = REFUSALS.has(status);
            const may: readonly Kind[] = isRefusal ? ['not_sent', 'declined', 'unknown'] : ['waiting', 'unknown'];
            assertKind(answer, may, `start, ${status}`);
            assertSentOnce(stand, status === 401 ? 2 : 1);
            assertKind(await stand.connector.inquire(world.order('completes')), ['unknown'], `inquire, ${status}`);
          }
        }),
    },
    {
      name: 'JSON that has not the form of an answer is unknown',
      run: (world) =>
        standBefore(world, page404(page), async (stand) => {
          for (const body of ['null', '[]', '[null]', '{}', '0', '"PAID"', 'true', '{"__proto__":{"status":"PAID"}}']) {
            stand.reply = { status: 200, body };
            assertKind(await stand.connector.start(world.order('completes')), ['waiting', 'unknown'], `start, ${body}`);
            assertKind(await stand.connector.inquire(world.order('completes')), ['unknown'], `inquire, ${body}`);
          }
        }),
    },
  ];
}

/** Statuses that servers and proxies give. */
const STATUSES = [
  200, 201, 202, 301, 302, 307, 400, 401, 403, 404, 405, 408, 409, 410, 413, 422, 429, 500, 501, 502, 503, 504, 520,
];

/** Those that may mean a refusal before anything was taken; a 408, a 409 and the other 5xx do not. */
const REFUSALS: ReadonlySet<number> = new Set([301, 302, 307, 400, 401, 403, 404, 405, 410, 413, 422, 429, 501, 503]);

function page404(body: string) {
  return { status: 404, body };
}

/** An upstream that breaks its own rules. */
function misbehaviourChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return MISBEHAVIOURS.map((misbehaviour) => ({
    name: `an upstream that misbehaves (${misbehaviour}) is asked once, and gets an answer of ours in time`,
    run: (world) =>
      standBefore(world, misbehaviour, async (stand) => {
        const expected: Kind = misbehaviour === 'refuses_connections' ? 'not_sent' : 'unknown';
        assertKind(await stand.connector.start(world.order('completes')), [expected], 'start');
        if (misbehaviour !== 'refuses_connections') assertSentOnce(stand, 1);
        assertBounded(stand);
        stand.asked.splice(0);
        assertKind(await stand.connector.inquire(world.order('completes')), ['unknown'], 'inquire');
        assertBounded(stand);
      }),
  }));
}

/** What may have been accepted is never sent again; with another token, what was refused may be. */
function assertSentOnce<Order>({ asked }: Stand<Order>, most: number): void {
  assert.ok(asked.length > 0, 'start has asked for nothing through the door that it was given');
  assert.ok(asked.length <= most, `start has made ${asked.length} requests; it may make ${most}`);
}

/** A call has ended, and holds little memory, before the inquiry round takes the attempt over. */
function assertBounded<Order>({ asked }: Stand<Order>): void {
  const longest = asked.reduce((sum, { timeout }) => sum + timeout, 0);
  assert.ok(longest <= MAX_CALL_MS, `a call may take ${longest} ms, which is longer than ${MAX_CALL_MS} ms`);
  for (const { answerLimit } of asked)
    assert.ok(answerLimit <= MAX_BYTES, `${answerLimit} bytes of an answer are read`);
}

/**
 * 10 s: a call begins up to 5 s after its attempt was written, and 4 s more if it takes so long to read whether the connector is
 * held; the inquiry round leaves the attempt alone for 20 s.
 */
const MAX_CALL_MS = 10_000;

const MAX_BYTES = 1_048_576;

/** Runs a check for each documented reply, at one upstream. */
function withDocumented<Order extends AskedOrder>(
  world: ConformanceWorld<Order>,
  check: (stand: Stand<Order>, asked: Order, documented: Documented) => Promise<void>,
): Promise<void> {
  const asked = world.order('completes');
  return standBefore(world, 'empty', async (stand) => {
    for (const documented of world.documented(asked)) {
      const { status, body } = documented;
      stand.reply = { status, body };
      await check(stand, asked, documented);
    }
  });
}

function ask<Order>({ connector }: Stand<Order>, to: Documented['to'], order: Order & AskedOrder) {
  return to === 'start' ? connector.start(order) : connector.inquire(order);
}

/** The JSON texts that differ from a body in one value, and where. None if the body is not JSON. */
function alterations(body: string, word: string): readonly (readonly [where: string, body: string])[] {
  const altered: [string, string][] = [];
  const leaves: string[] = [];
  const walk = (only: number): unknown => {
    let count = -1;
    return JSON.parse(body, (key, value: unknown) => {
      if (typeof value === 'object' && value !== null) return value;
      count += 1;
      if (only < 0) leaves.push(key);
      return count === only ? word : value;
    });
  };
  try {
    walk(-1);
  } catch {
    return [];
  }
  for (const [at, key] of leaves.entries()) altered.push([key, JSON.stringify(walk(at))]);
  return altered;
}
