/**
 * `mbongo doctor`: checks what the gateway needs, and says what to do about anything missing.
 *
 * Invariant: every line was really checked just now. It changes nothing, except that, as every command does, it starts the
 * embedded database if that is not running, and applies missing migrations.
 */

import { type Config, readConfig } from '../config.ts';
import type { Store } from '../store/store.ts';
import { type Check, fail, ok } from './doctor-check.ts';
import { checkAuditor, checkBooks, checkClock, checkKeys, checkScopes, checkServer } from './doctor-database.ts';
import { checkDisk, checkNode, checkPorts } from './doctor-machine.ts';
import { checkCarriers, checkTexts, checkWarning } from './doctor-upstreams.ts';
import { checkDead, checkReceivers, checkWork } from './doctor-work.ts';
import { type Io, messageOf, type Output, printOutput } from './output.ts';
import { openWorld, type World } from './world.ts';

/** Returns the exit status: 0 if no check has failed; a warning is not a failure. */
export async function doctor(io: Io, json: boolean): Promise<number> {
  const checks = await look(io);
  const well = checks.every(({ status }) => status !== 'fail');
  printOutput(io, outputOf(checks, well), json);
  return well ? 0 : 1;
}

async function look(io: Io): Promise<readonly Check[]> {
  const node = checkNode();
  let config: Config;
  try {
    config = readConfig(io.env);
  } catch (error) {
    return [node, fail('configuration', messageOf(error))];
  }
  const where = config.databaseUrl === undefined ? 'embedded database' : 'DATABASE_URL';
  const configured = ok('configuration', `${config.mode} mode, ${where}`);
  const [books, ...database] = await checkDatabase(io);
  return [
    // The books come first, because no other failure is as bad.
    ...(books === undefined ? [] : [books]),
    node,
    configured,
    ...database,
    ...(await checkDisk(config)),
    checkWarning(config, 'public_url', 'public URL', config.publicUrl),
    ...(await checkTexts(config)),
    ...(await checkCarriers(config)),
    ...(await checkPorts(config)),
  ];
}

/** The checks of the database, the books first; if it cannot be used, a single failure. */
async function checkDatabase(io: Io): Promise<readonly Check[]> {
  let world: World;
  try {
    world = await openWorld(io, 'errors');
  } catch (error) {
    return [fail('database', messageOf(error))];
  }
  try {
    return await checkStore(world, world.store);
  } catch (error) {
    return [fail('database', messageOf(error))];
  } finally {
    await world.close();
  }
}

async function checkStore(world: World, store: Store): Promise<readonly Check[]> {
  return [
    ...(await checkBooks(world, store)),
    ...(await checkServer(store)),
    ...(await checkClock(world, store)),
    ...(await checkKeys(world, store)),
    ...(await checkAuditor(world, store)),
    ...(await checkWork(world, store)),
    ...(await checkReceivers(world, store)),
    ...(await checkDead(world, store)),
    ...(await checkScopes(store)),
  ];
}

const WORDS: { readonly [status in Check['status']]: string } = { ok: 'ok   ', warn: 'warn ', fail: 'WRONG' };

function outputOf(checks: readonly Check[], well: boolean): Output {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ status, name, detail }) => `${WORDS[status]}  ${name.padEnd(width)}  ${detail}`);
  const told = checks.map(({ name, status, ...more }) => ({ name, ok: status !== 'fail', status, ...more }));
  return { document: { ok: well, checks: told }, lines };
}
