/**
 * What is known of holds: operators put them in force, and end them (`connector-hold.ts`).
 *
 * Invariant: nothing is sent on knowledge that is older than a second, or, while the database is slow, than the few seconds that
 * its answer took; and nothing is sent when it cannot be read, or its row is damaged.
 */

import type { Sender } from '../connectors/connector.ts';
import { isWithin } from '../domain/elapsed.ts';
import { holdId } from '../domain/hold.ts';
import type { Setting } from '../domain/records.ts';
import type { Clock, Log } from '../platform/platform.ts';
import { StoreUnavailable } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { freshReads } from './fresh-read.ts';
import { isTransientFailure } from './perform.ts';
import { keptIn, readSetting } from './setting.ts';
import { hasFields, isText } from './stored-json.ts';

/** A hold that is in force, by whom it was put in force, and why. */
export interface Hold {
  /** Since when (milliseconds). */
  readonly since: number;
  readonly by: string;
  readonly why: string | null;
}

/** What is stored. `command` names the command that has written it: the commands of earlier builds recognise their own row by it. */
export interface KeptHold {
  readonly command: string;
  /** Null: the hold has ended. */
  readonly hold: Hold | null;
}

interface Reads {
  readonly store: Pick<Store, 'setting'>;
}

/** The connector's hold; undefined: it is not held. */
export async function readHold(deps: Reads, connector: string): Promise<Hold | undefined> {
  return holdIn(await readSetting(deps, holdId(connector)))?.hold ?? undefined;
}

/** Every sender, with its hold. */
export function readHolds(
  deps: Reads,
  senders: readonly Sender[],
): Promise<readonly { readonly sender: Sender; readonly hold: Hold | undefined }[]> {
  return Promise.all(senders.map(async (sender) => ({ sender, hold: await readHold(deps, sender.connector) })));
}

/** A row that cannot be read may have said that the connector is held. Ending that hold writes the row anew. */
const DAMAGED: KeptHold = { command: '', hold: { since: 0, by: 'mbongo', why: 'the row of its hold is damaged' } };

/** What a hold's setting says; undefined: the connector was never held. */
export function holdIn(setting: Setting | undefined): KeptHold | undefined {
  return setting === undefined ? undefined : (keptIn(setting, isKeptHold) ?? DAMAGED);
}

function isKeptHold(value: unknown): value is KeptHold {
  return hasFields(value) && isText(value.command) && (value.hold === null || isHold(value.hold));
}

function isHold(value: unknown): value is Hold {
  if (!hasFields(value)) return false;
  const { since, by, why } = value;
  return typeof since === 'number' && isText(by) && (why === null || isText(why));
}

/** What one process knows. */
export interface Holds {
  /** All connectors that send money out. */
  readonly senders: readonly Sender[];
  /** Whether payouts and refunds through that connector must wait. */
  isHeld(connector: string): Promise<boolean>;
  /** Asks about every sender, for `held` and `waiting`. */
  look(): Promise<void>;
  /** The senders that were held when they were last asked about. */
  held(): readonly Sender[];
  /** The held senders, and those whose hold could not be read. */
  waiting(): readonly Sender[];
}

/** 1 s for which an answer is used again. */
const LIFE_MS = 1_000;
/** 4 s that an answer may take: later, it says nothing any more. */
const MAX_READ_MS = 4_000;

/** Makes what one process knows of the holds of these senders. A hold that begins or ends is logged when it is noticed. */
export function openHolds(
  deps: Reads & { readonly clock: Clock; readonly log: Log },
  senders: readonly Sender[],
): Holds {
  const reads = freshReads<boolean>({ now: () => deps.clock.now(), lifeMs: LIFE_MS });
  const held = new Set<string>();
  const read = async (connector: string): Promise<boolean> => {
    const begun = deps.clock.now();
    const isHeld = (await readHold(deps, connector)) !== undefined;
    if (!isWithin(MAX_READ_MS, begun, deps.clock.now())) {
      // Time is short, of the database or of this process: no fault of ours.
      deps.log.warn('hold_late', { connector });
      throw new StoreUnavailable('the database takes too long');
    }
    if (isHeld === held.has(connector)) return isHeld;
    if (isHeld) held.add(connector);
    else held.delete(connector);
    deps.log.warn(isHeld ? 'connector_held' : 'connector_resumed', { connector });
    return isHeld;
  };
  const isHeld = (connector: string): Promise<boolean> => reads(connector, () => read(connector));
  const unread = new Set<string>();
  const look = async ({ connector }: Sender): Promise<void> => {
    try {
      await isHeld(connector);
      unread.delete(connector);
    } catch (error) {
      // Of a database that is away, the store has logged why; of one that is slow, `read`.
      if (!isTransientFailure(error) && !unread.has(connector)) deps.log.error('hold_unread', { connector }, error);
      unread.add(connector);
    }
  };
  return {
    senders,
    isHeld,
    // What cannot be read keeps no other connector's work from being claimed.
    look: async () => void (await Promise.all(senders.map(look))),
    held: () => senders.filter(({ connector }) => held.has(connector)),
    waiting: () => senders.filter(({ connector }) => held.has(connector) || unread.has(connector)),
  };
}

/** What payout lines and refunds that must wait give as their connector. */
export function waitingRoutes({ waiting }: Pick<Holds, 'waiting'>): string[] {
  return waiting().map(({ route }) => route);
}
