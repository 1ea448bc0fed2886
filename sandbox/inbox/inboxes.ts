/**
 * The inboxes that catch webhooks, in memory.
 * Invariant: memory is bounded by the number of inboxes, messages per inbox and total bytes; what was caught is never changed.
 */
import { createWatchers } from '../watchers.ts';
import type { World } from '../world.ts';
import { judge, keyIn, type Verdict } from './signature.ts';

export type Caught = {
  /** Counts up within the inbox, from 1. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The status the inbox answered with; null if it never answered. */
  readonly answered: number | null;
  /** How many times this webhook-id had arrived, including this one. */
  readonly attempt: number;
};

export type InboxView = {
  readonly name: string;
  readonly hasSecret: boolean;
  readonly total: number;
  /** Newest first. */
  readonly messages: readonly (Caught & Verdict)[];
};

export type InboxSummary = { readonly name: string; readonly total: number; readonly last_at: number | null };

export type Inboxes = {
  readonly take: (name: string, message: Pick<Caught, 'headers' | 'body' | 'answered'>) => void;
  readonly read: (name: string, limit?: number) => InboxView;
  /** False if the text is not a `whsec_` secret; an empty text removes the secret. */
  readonly setSecret: (name: string, secret: string) => boolean;
  readonly empty: (name: string) => void;
  readonly list: () => InboxSummary[];
  readonly watch: (name: string, changed: () => void) => () => void;
};

const inboxesKept = 1_000;
const messagesKept = 500;
/** 128 MiB over all inboxes, so that a flood of large bodies cannot fill the machine. */
const bytesKept = 128 * 1024 * 1024;

/** The inbox that the gateway gives its demo merchant's secret to. */
const DEMO = 'demo';

type Inbox = { messages: Caught[]; total: number; bytes: number; key: Buffer | undefined };

/** Names use only characters that need no escaping in an address. */
export function isInboxName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** `secret` verifies the webhooks of inboxes that have none of their own. */
export function createInboxes(world: World, secret: string | undefined): Inboxes {
  const inboxes = new Map<string, Inbox>();
  const { watch, changed } = createWatchers();
  const commonKey = secret === undefined ? undefined : keyIn(secret);
  let bytes = 0;

  const dropOldestMessage = (inbox: Inbox) => {
    const size = inbox.messages.shift()?.body.length ?? 0;
    inbox.bytes -= size;
    bytes -= size;
  };
  const forget = (name: string) => {
    bytes -= inboxes.get(name)?.bytes ?? 0;
    inboxes.delete(name);
  };
  const touch = (name: string): Inbox => {
    const inbox = inboxes.get(name) ?? { messages: [], total: 0, bytes: 0, key: undefined };
    inboxes.delete(name);
    inboxes.set(name, inbox);
    return inbox;
  };
  const makeRoom = () => {
    while (inboxes.size > inboxesKept || (bytes > bytesKept && inboxes.size > 1)) {
      const oldest = inboxes.keys().next().value;
      if (oldest === undefined) return;
      forget(oldest);
    }
    for (const inbox of inboxes.values())
      while (bytes > bytesKept && inbox.messages.length > 1) dropOldestMessage(inbox);
  };
  const verdictOf = (inbox: Inbox, message: Caught): Verdict => {
    const parts = {
      id: message.headers['webhook-id'],
      timestamp: message.headers['webhook-timestamp'],
      signature: message.headers['webhook-signature'],
      body: message.body,
      receivedAt: message.at,
    };
    const key = inbox.key ?? commonKey;
    if (key !== undefined) return judge(key, parts);
    // The demo merchant may name any inbox. What its secret does not verify may be another merchant's, and is not called wrong.
    const byDemo = judge(inboxes.get(DEMO)?.key, parts);
    return byDemo.verdict === 'verified' ? byDemo : judge(undefined, parts);
  };

  return {
    take: (name, message) => {
      const inbox = touch(name);
      const id = message.headers['webhook-id'];
      const before = id === undefined ? 0 : inbox.messages.filter((one) => one.headers['webhook-id'] === id).length;
      inbox.total += 1;
      inbox.messages.push({ ...message, id: inbox.total, at: world.now(), attempt: before + 1 });
      inbox.bytes += message.body.length;
      bytes += message.body.length;
      if (inbox.messages.length > messagesKept) dropOldestMessage(inbox);
      if (inboxes.size > inboxesKept || bytes > bytesKept) makeRoom();
      changed(name);
    },
    read: (name, limit = messagesKept) => {
      const inbox = inboxes.get(name);
      const messages = inbox?.messages.slice(-limit).reverse() ?? [];
      return {
        name,
        hasSecret: (inbox?.key ?? commonKey) !== undefined,
        total: inbox?.total ?? 0,
        messages: inbox === undefined ? [] : messages.map((message) => ({ ...message, ...verdictOf(inbox, message) })),
      };
    },
    setSecret: (name, text) => {
      const key = keyIn(text);
      if (key === undefined && text.trim() !== '') return false;
      touch(name).key = key;
      makeRoom();
      changed(name);
      return true;
    },
    empty: (name) => {
      const inbox = inboxes.get(name);
      while (inbox !== undefined && inbox.messages.length > 0) dropOldestMessage(inbox);
      changed(name);
    },
    list: () =>
      [...inboxes]
        .map(([name, inbox]) => ({ name, total: inbox.total, last_at: inbox.messages.at(-1)?.at ?? null }))
        .reverse(),
    watch,
  };
}
