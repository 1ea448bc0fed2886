/**
 * `mbongo doctor`: checks what the gateway needs, and says what to do about what is missing.
 *
 * Invariant: every line was really checked just now. It changes nothing, but it starts the embedded database when that
 * is not running, and brings it up to date, as every command does.
 */

import { createServer } from 'node:net';
import { type Config, readConfig, type Warning, warningsOf } from '../config.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { messageOf, type Output, printOutput, type Surroundings } from './output.ts';
import { openWorld, type World } from './world.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** True: it works, and yet should be looked at. The check is `ok`. */
  readonly warning?: true;
  readonly detail: string;
  /** Of the books: what was found, at most a hundred. */
  readonly findings?: readonly { readonly [field: string]: string }[];
}

const CLOCK_SKEW_MOST_MS = 1_000;
const MOST_FINDINGS_SHOWN = 100;

/** Returns the exit status: 0 when all is well. */
export async function doctor(around: Surroundings, json: boolean): Promise<number> {
  const checks = [checkNode()];
  const config = await look('configuration', checks, async () => {
    const read = readConfig(around.env);
    return [read, `${read.mode} mode, ${read.databaseUrl === undefined ? 'embedded database' : 'DATABASE_URL'}`];
  });
  if (config !== undefined) {
    await checkDatabase(around, checks);
    checks.push(checkWarning(config, 'public_url', 'public URL', config.publicUrl));
    checks.push(checkWarning(config, 'texts', 'texts', `one-time codes leave by ${hostOf(config.sms?.url)}`));
    await checkCarriers(config, checks);
    await look('port', checks, async () => [true, await portDetail(config.host, config.port, 'PORT', '/health')]);
    if (config.mode === 'sandbox') {
      await look('sandbox port', checks, async () => [
        true,
        await portDetail('127.0.0.1', config.sandboxPort, 'SANDBOX_PORT', '/'),
      ]);
    }
  }
  const ok = checks.every((check) => check.ok);
  printOutput(around, outputOf(checks, ok), json);
  return ok ? 0 : 1;
}

/** Runs one check; what it throws is its failure. */
async function look<V>(name: string, checks: Check[], run: () => Promise<[V, string]>): Promise<V | undefined> {
  try {
    const [value, detail] = await run();
    checks.push({ name, ok: true, detail });
    return value;
  } catch (error) {
    checks.push({ name, ok: false, detail: messageOf(error) });
    return undefined;
  }
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return {
    name: 'Node.js',
    ok,
    detail: ok ? process.versions.node : `${process.versions.node}: install 20.19 or newer`,
  };
}

async function checkDatabase(around: Surroundings, checks: Check[]): Promise<void> {
  const world = await look('database', checks, async () => [
    await openWorld(around, 'errors'),
    'reachable, its schema is up to date, and it belongs to this mode and master key',
  ]);
  if (world === undefined) return;
  try {
    // First, because nothing else is as bad.
    checks.unshift(await checkBooks(world));
    await look('clock', checks, async () => {
      const { openStore } = await import('../store/store.ts');
      const store = await openStore({ url: world.databaseUrl });
      try {
        const before = world.clock.wall();
        const there = await store.time();
        const skew = Math.max(0, before - there, there - world.clock.wall());
        if (skew <= CLOCK_SKEW_MOST_MS) return [true, `within ${CLOCK_SKEW_MOST_MS} ms of the database's`];
        throw new Error(`the database's clock is ${skew} ms away from ours: run NTP on both machines`);
      } finally {
        await store.close();
      }
    });
    await checkScopes(world, checks);
  } finally {
    await world.close();
  }
}

/** A session that says nothing may pay out, and sessions travel to phones (contract §3). */
async function checkScopes(world: World, checks: Check[]): Promise<void> {
  const open = await look('session scope', checks, async () => {
    const { openStore } = await import('../store/store.ts');
    const store = await openStore({ url: world.databaseUrl });
    try {
      const merchants = await store.merchant.list();
      const lax = merchants.filter(({ status, settings }) => status === 'ALLOWED' && settings.scope_required !== true);
      return [lax, "every merchant's sessions have to say what they are for"];
    } finally {
      await store.close();
    }
  });
  const [first] = open ?? [];
  if (open === undefined || first === undefined) return;
  const detail =
    `merchants whose sessions need not say their scope, and so may pay out: ${open.length}; ` +
    `use mbongo merchant set --merchant ${first.id} --scope-required on`;
  checks.splice(-1, 1, { name: 'session scope', ok: true, warning: true, detail });
}

/** Every account and every transfer. */
async function checkBooks(world: World): Promise<Check> {
  const name = 'books';
  const [{ openStore }, { createOutbound }, { openSandboxBooks }, { auditNow, fieldsOf }] = await Promise.all([
    import('../store/store.ts'),
    import('../platform/outbound.ts'),
    import('../connectors/sandbox-books/client.ts'),
    import('../usecases/audit.ts'),
  ]);
  const store = await openStore({ url: world.databaseUrl });
  const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
  try {
    const books = openSandboxBooks(world.config, outbound);
    const { findings, accounts, transfers } = await auditNow({ store, clock: world.clock, books });
    const told = findings.map(fieldsOf);
    const [first] = told;
    if (first === undefined) {
      return { name, ok: true, detail: `they balance: ${accounts} accounts, ${transfers} transfers` };
    }
    const what = Object.entries(first).map(([field, value]) => `${field} ${value}`);
    const more = told.length === 1 ? '' : `; and ${told.length - 1} more, see --json`;
    const detail = `they do not balance: ${what.join(', ')}${more}`;
    return { name, ok: false, detail, findings: told.slice(0, MOST_FINDINGS_SHOWN) };
  } catch (error) {
    return { name, ok: false, detail: messageOf(error) };
  } finally {
    await outbound.close();
    await store.close();
  }
}

/** What the configuration warns of, or else what is well. */
function checkWarning(config: Config, about: Warning['about'], name: string, well: string): Check {
  const found = warningsOf(config).find((warning) => warning.about === about);
  return found === undefined
    ? { name, ok: true, detail: well }
    : { name, ok: true, warning: true, detail: found.detail };
}

/** The routes of numbers are read as the start reads them: a file that is wrong stops it. */
async function checkCarriers(config: Config, checks: Check[]): Promise<void> {
  const routed = await look('carriers', checks, async () => {
    const { openConnectors } = await import('../connectors/registry.ts');
    const { createOutbound } = await import('../platform/outbound.ts');
    const outbound = createOutbound({ allowLoopback: false, requireHttps: true });
    try {
      const log = createLog({ level: 'silent' });
      const { names } = openConnectors(config, { outbound, clock: systemClock(), log });
      return [names, names.join(', ')];
    } finally {
      await outbound.close();
    }
  });
  if (routed?.length === 0) checks.splice(-1, 1, checkWarning(config, 'carriers', 'carriers', 'none'));
}

function hostOf(url: string | undefined): string {
  return url === undefined ? 'nowhere' : new URL(url).host;
}

/** Whether a port is free, or a gateway or sandbox answers there already. */
async function portDetail(
  host: string,
  port: number,
  variable: 'PORT' | 'SANDBOX_PORT',
  page: string,
): Promise<string> {
  if (await isFree(host, port)) return `${port} is free`;
  const answers = await fetch(`http://127.0.0.1:${port}${page}`, { signal: AbortSignal.timeout(2_000) })
    .then((response) => response.ok)
    .catch(() => false);
  if (answers) return `${port} is served already`;
  throw new Error(`port ${port} is taken by another program: set ${variable}`);
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function wordOf({ ok, warning }: Check): string {
  if (!ok) return 'WRONG';
  return warning === true ? 'warn ' : 'ok   ';
}

function outputOf(checks: readonly Check[], ok: boolean): Output {
  const lines = checks.map((check) => `${wordOf(check)}  ${check.name.padEnd(13)}  ${check.detail}`);
  return { document: { ok, checks }, lines };
}
