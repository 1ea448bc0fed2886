/**
 * What a sandbox adds to a start: the demo merchant, and telling the sandbox networks about it.
 *
 * Invariant: this is done once per node, however many processes serve there, by the process that calls this.
 */

import type { Outbound } from '../platform/platform.ts';
import type { Store } from '../store/store.ts';
import { type Demo, demoNotes, demoWebhookSecret, isDemoCurrent, openDemo } from './demo.ts';
import type { World } from './world.ts';

/** 20 tries, 500 ms apart, to tell the sandbox about the demo: it is another program, which may start after us. */
const TELL_TRIES = 20;
const TELL_EVERY_MS = 500;

/** The result of opening a sandbox. */
export interface Opening {
  /** Lines for the person who started it. */
  readonly notes: readonly string[];
  /** Stops trying to tell the sandbox networks. */
  giveUp(): void;
}

const NOTHING: Opening = { notes: [], giveUp: () => undefined };

/** Seeds the demo of an empty sandbox, and begins to tell the sandbox networks about it; does nothing in production. */
export async function openSandbox(world: World, store: Store, outbound: Outbound, url: string): Promise<Opening> {
  const { config, clock, random, secrets } = world;
  if (config.mode !== 'sandbox') return NOTHING;
  const demo = await openDemo({ store, clock, random, secrets, mode: config.mode }, config.dataDir);
  if (demo === undefined) return NOTHING;
  const current = await isDemoCurrent({ store }, demo);
  const webhook_secret = await demoWebhookSecret({ store, secrets }, demo);
  const telling = tellSandbox(world, outbound, url, { ...demo, webhook_secret });
  return {
    notes: demoNotes(demo, current ? 'valid' : 'ended', url, `http://127.0.0.1:${config.sandboxPort}`),
    giveUp: () => {
      for (const giveUp of telling) giveUp();
    },
  };
}

/**
 * Hands the demo's webhook secret to the sandbox's inbox, which then can say whether signatures verify, and its
 * credential to the sandbox's shop, which then can sell. Returns functions that stop trying.
 */
function tellSandbox(world: World, outbound: Outbound, url: string, demo: Demo): (() => void)[] {
  const { webhook_secret } = demo;
  const credential = `${demo.key_id}:${demo.secret}`;
  const shop = { gateway_url: world.config.publicUrl, api: `${url}/api/v1`, credential, webhook_secret };
  return [
    tell(world, outbound, '/inbox/demo/secret', { secret: webhook_secret }),
    tell(world, outbound, '/shop/credential', shop),
  ];
}

/** Best effort: the sandbox may start later than we do, or not at all. Returns a function that stops trying. */
function tell(world: World, outbound: Outbound, path: string, body: object): () => void {
  let cancel: () => void = () => undefined;
  let given = false;
  const send = async (triesLeft: number): Promise<void> => {
    const answer = await outbound.request({
      method: 'PUT',
      url: `http://127.0.0.1:${world.config.sandboxPort}${path}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout: 2_000,
      trust: 'upstream',
      answerLimit: 1_024,
    });
    const known = answer.kind === 'answered' && answer.status < 300;
    if (known || given || triesLeft <= 1) return;
    cancel = world.clock.after(TELL_EVERY_MS, () => void send(triesLeft - 1));
  };
  void send(TELL_TRIES);
  return () => {
    given = true;
    cancel();
  };
}
