/**
 * What `doctor` checks in the database: its version, the migrations, the clocks, the keys, the sessions' scopes, the books.
 *
 * Invariant: it only reads. Sealed values are opened to check that they can be, and never shown.
 */

import { signsAt } from '../domain/webhook.ts';
import { OLDEST_POSTGRES, postgresOf, readMigrations } from '../store/migrate.ts';
import type { Server, Slot } from '../store/server-reads.ts';
import type { Store } from '../store/store.ts';
import { type Check, fail, looking, ok, spanOf, warn } from './doctor-check.ts';
import { counted } from './output.ts';
import type { World } from './world.ts';

const MAX_CLOCK_SKEW_MS = 1_000;
const MAX_FINDINGS_SHOWN = 100;
const MAX_MERCHANTS_NAMED = 5;
/** The webhook secrets of 1000 merchants at most are opened. */
const MAX_OPENED = 1_000;
/** 10 min without an audit are worth a warning: a worker audits once a minute. */
const AUDIT_LATE_MS = 10 * 60_000;

/** Audits every account and every transfer. */
export async function checkBooks(world: World, store: Store): Promise<readonly Check[]> {
  const name = 'books';
  return looking(name, async () => {
    const [{ createOutbound }, { addressesOf }, { openSandboxBooks }, { auditNow, fieldsOf }] = await Promise.all([
      import('../platform/outbound.ts'),
      import('../connectors/registry.ts'),
      import('../connectors/sandbox-books/client.ts'),
      import('../usecases/audit.ts'),
    ]);
    const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
    try {
      const books = openSandboxBooks(world.config, addressesOf(world.config), outbound);
      const { findings, accounts, transfers } = await auditNow({ store, clock: world.clock, books });
      const told = findings.map(fieldsOf);
      const [first] = told;
      if (first === undefined)
        return [ok(name, `they balance: ${counted(accounts, 'account')}, ${counted(transfers, 'transfer')}`)];
      const what = Object.entries(first).map(([field, value]) => `${field} ${value}`);
      const more = told.length === 1 ? '' : `; and ${told.length - 1} more, see --json`;
      const wayOut = 'docs/operating.md, “The auditor”, says what each kind means and what to do';
      const detail = `they do not balance: ${what.join(', ')}${more}; ${wayOut}`;
      return [{ ...fail(name, detail), findings: told.slice(0, MAX_FINDINGS_SHOWN) }];
    } finally {
      await outbound.close();
    }
  });
}

/** The server's version, and whether a newer version of this program has migrated the database. */
export function checkServer(store: Store): Promise<readonly Check[]> {
  return looking('database', async () => {
    const server = await store.server();
    const { version, size, unsafe, stalled = 0, migrations } = server;
    const said = `${postgresOf(version)}, ${Math.ceil(size / 1_024 ** 2)} MiB`;
    return [
      stalled > 0 ? stalledCheck(stalled) : serverCheck(said, version, unsafe),
      ...replicationChecks(server),
      migrationCheck(
        migrations,
        readMigrations().map(({ name }) => name),
      ),
    ];
  });
}

/** The setting that is rightly off where the storage itself writes whole pages. */
const PAGES = 'full_page_writes';

/** `off`: the settings that are off although they guard what was acknowledged. */
export function serverCheck(said: string, version: number, off: readonly string[]): Check {
  const name = 'database';
  if (version < OLDEST_POSTGRES) return fail(name, `${said}: version 15 or newer is needed, upgrade the server`);
  const losing = off.filter((setting) => setting !== PAGES);
  if (losing.length > 0) {
    const what = `${losing.join(' and ')} ${losing.length === 1 ? 'is' : 'are'} off`;
    return fail(name, `${what}: payments that were acknowledged may be lost when the server crashes, set it to on`);
  }
  if (off.length === 0) return ok(name, said);
  const wayOut = 'set it to on, unless its storage never writes half a page (ZFS, some managed databases)';
  return warn(name, `${PAGES} is off: a crash may damage what was acknowledged, ${wayOut}`);
}

/** `stalled`: how many commits wait for a synchronous standby. */
export function stalledCheck(stalled: number): Check {
  const what = `${stalled === 1 ? '1 commit waits' : `${stalled} commits wait`} for a synchronous standby, and all others are refused`;
  const wayOut = 'bring one back, or take it out of synchronous_standby_names (docs/runbook.md, MbongoDatabaseAway)';
  return fail('database', `${what}: ${wayOut}`);
}

/** What cannot be seen of the replication, and the slots that hold back much. */
export function replicationChecks({ stalled, slots }: Pick<Server, 'stalled' | 'slots'>): readonly Check[] {
  const unseen = [
    ...(stalled === undefined ? ['pg_stat_activity'] : []),
    ...(slots === undefined ? ['pg_replication_slots'] : []),
  ].join(', ');
  const wayOut = `grant select on ${unseen} to it`;
  const detail = `this role may not see whether commits wait for a standby, or a slot fills the disk: ${wayOut}`;
  return [...(unseen === '' ? [] : [warn('replication', detail)]), ...slotsChecks(slots ?? [])];
}

/** 1 GiB that a slot without a reader holds back is more than a restart of its reader takes. */
const MAX_HELD_BYTES = 1_024 ** 3;
/** 10 GiB behind is a reader that does not keep up. */
const MAX_BEHIND_BYTES = 10 * MAX_HELD_BYTES;

/** Slots without a reader, or with one that is far behind: what is kept for them fills the disk, and then nothing is committed. */
function slotsChecks(slots: readonly Slot[]): readonly Check[] {
  return slots
    .filter(({ isActive, held }) => held >= (isActive ? MAX_BEHIND_BYTES : MAX_HELD_BYTES))
    .map(({ name, isActive, held }) => {
      const what = `the slot ${name} ${isActive ? 'is far behind' : 'has no reader'}, and ${sizeOf(held)} of WAL is kept for it`;
      const wayOut = isActive ? 'see what slows its reader down' : `bring its reader back, or drop the slot`;
      return warn('replication', `${what}: ${wayOut}, before the disk is full`);
    });
}

function sizeOf(bytes: number): string {
  return `${(bytes / 1_024 ** 3).toFixed(1)} GiB`;
}

/** `openWorld` has applied missing migrations, so only newer ones, unknown to this version, can be a problem. */
export function migrationCheck(applied: readonly string[], ours: readonly string[]): Check {
  const newer = applied.filter((name) => !ours.includes(name));
  if (newer.length === 0) return ok('migrations', `all ${ours.length} are applied`);
  const detail = `the database has ${newer.join(', ')}, unknown to this version: upgrade this program too`;
  return warn('migrations', detail);
}

/**
 * Whether this machine's clock is as the database's, within `MAX_CLOCK_SKEW_MS`. It is the machine's own clock, not the test clock.
 */
export function checkClock(world: World, store: Store): Promise<readonly Check[]> {
  return looking('clock', async () => {
    const { clockDifference } = await import('../usecases/clock-difference.ts');
    return [skewCheck(await clockDifference({ store, clock: world.clock }))];
  });
}

/** `skew`: milliseconds between the database's clock and ours. */
export function skewCheck(skew: number): Check {
  if (skew <= MAX_CLOCK_SKEW_MS) return ok('clock', `within ${MAX_CLOCK_SKEW_MS} ms of the database's`);
  return fail('clock', `the database's clock is ${spanOf(skew)} away from ours: run NTP on both machines`);
}

/**
 * Values sealed with a key that was taken out of MASTER_KEY cannot be opened, nor can signing secrets that were altered, or moved to
 * another merchant; which is noticed only when one is needed.
 */
export function checkKeys(world: World, store: Store): Promise<readonly Check[]> {
  return looking('keys', async () => {
    const [{ needsInWords }, { openWebhookSecret }] = await Promise.all([
      import('../usecases/key-needs.ts'),
      import('../usecases/webhook-sign.ts'),
    ]);
    const { keyIds } = world.secrets;
    const now = world.clock.now();
    const needs = await store.keyNeeds(now);
    const lacking = needsInWords(needs, (key) => !keyIds.includes(key));
    const older = needsInWords(needs, (key) => keyIds.includes(key) && key !== keyIds[0]);
    const merchants = await store.merchant.list({ limit: MAX_OPENED });
    const secrets = await Promise.all(merchants.map(({ shard, id }) => store.webhookSecret.ofMerchant(shard, id)));
    const live = secrets.flat().filter((secret) => signsAt(secret, now));
    const shut = live.filter((secret) => openWebhookSecret(world, secret) === undefined);
    const [first] = shut;
    if (first !== undefined && lacking === undefined) {
      const what = `${shut.length} of ${live.length} signing secrets were altered, or moved from another merchant`;
      const wayOut = 'find out who changed the database, and rotate them (mbongo webhook secret rotate --grace 0)';
      return [fail('keys', `${what} (first: ${first.merchant_id}), and do not sign: ${wayOut}`)];
    }
    if (first !== undefined) {
      const what = `MASTER_KEY does not open ${shut.length} of ${live.length} signing secrets (first: ${first.merchant_id})`;
      return [
        fail('keys', `${what}: add the older key again after a comma, or rotate them (mbongo webhook secret rotate)`),
      ];
    }
    if (lacking !== undefined) {
      return [fail('keys', `MASTER_KEY lacks a key that is needed by ${lacking}: add it again after a comma`)];
    }
    const rest = older === undefined ? 'no older key is needed' : `an older key is still needed by ${older}: keep it`;
    return [ok('keys', `MASTER_KEY opens the signing secrets (${live.length} checked); ${rest}`)];
  });
}

/** A session without a scope may pay out, and sessions are sent to customers' phones (contract §3). */
export function checkScopes(store: Store): Promise<readonly Check[]> {
  const name = 'session scope';
  return looking(name, async () => {
    const merchants = await store.merchant.list();
    const lax = merchants.filter(({ status, settings }) => status === 'ALLOWED' && settings.scope_required !== true);
    const [first] = lax;
    if (first === undefined) return [ok(name, "every merchant's sessions must state their scope")];
    const named = lax.slice(0, MAX_MERCHANTS_NAMED).map(({ id }) => id);
    const more =
      lax.length > named.length ? `, and ${lax.length - named.length} more, see mbongo merchant list --json` : '';
    const what = `merchants whose sessions may make payouts without stating that scope: ${lax.length} (${named.join(', ')}${more})`;
    const [id, each] = lax.length === 1 ? [first.id, ''] : ['<id>', ' for each'];
    return [warn(name, `${what}; run mbongo merchant set --merchant ${id} --scope-required on${each}`)];
  });
}

/** Whether the auditor has run lately, so that the books are checked without `doctor` too. */
export function checkAuditor(world: World, store: Store): Promise<readonly Check[]> {
  return looking('auditor', async () => {
    const { readAudit } = await import('../usecases/audit.ts');
    const last = await readAudit({ store });
    if (last === undefined) return [ok('auditor', 'no audit is on record: a worker audits the books once a minute')];
    const age = world.clock.wall() - last.at;
    const said = `it ran ${spanOf(age)} ago`;
    const found = Object.entries(last.findings).map(([kind, count]) => `${kind} ${count}`);
    if (found.length > 0) {
      const wayOut = 'the log names each (audit_finding); docs/operating.md, “The auditor”, says what to do';
      return [fail('auditor', `${said} and found ${found.join(', ')}: ${wayOut}`)];
    }
    if (age <= AUDIT_LATE_MS) return [ok('auditor', said)];
    return [
      warn('auditor', `${said}: start a process that does the background work (mbongo serve, or serve --role worker)`),
    ];
  });
}
