/**
 * A process that opens the embedded database of the folder it is given, reports it on one line of JSON, and holds it open
 * until its standard input ends. Tests kill it.
 */
import { openEmbeddedDatabase } from '../../src/platform/embedded-database.ts';

const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error('usage: database-opener.ts <data folder>');
const log = { making: () => undefined, warn: (message: string) => process.stderr.write(`${message}\n`) };
const database = await openEmbeddedDatabase({ dataDir, log });
process.stdout.write(`${JSON.stringify({ url: database.url, started: database.started })}\n`);
process.stdin.resume().once('end', () => {
  void database.close();
});
