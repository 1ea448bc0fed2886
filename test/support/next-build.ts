/**
 * The version after this one: the same code, with migrations that the next version might bring.
 *
 * Invariant: it is a build of its own in a folder of its own; the project's is only read.
 */
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Every kind of change that our rule for migrations allows, on the tables that are written most. */
const TOMORROW = `
alter table payment add column of_tomorrow text, add column channel text not null default 'app';
alter table archive.payment add column of_tomorrow text, add column channel text not null default 'app';
alter table attempt add column of_tomorrow jsonb;
alter table archive.attempt add column of_tomorrow jsonb;
alter table webhook_event add column of_tomorrow integer default 7;
alter table archive.webhook_event add column of_tomorrow integer default 7;
alter table session add column of_tomorrow boolean;
alter table archive.session add column of_tomorrow boolean;
alter table account add column of_tomorrow text;
alter table ledger_transfer add column of_tomorrow text;
alter table archive.ledger_transfer add column of_tomorrow text;
create index if not exists payment_of_tomorrow on payment (of_tomorrow, shard) where of_tomorrow is not null;
create table dispute (
  shard smallint not null,
  id text collate "C" not null,
  payment_id text collate "C" not null,
  primary key (shard, id)
);
`;

/** Makes the build, and returns its folder. */
export function makeNextBuild(): string {
  const folder = temporaryFolder();
  const build = join(folder, 'dist');
  cpSync(join(ROOT, 'dist'), build, { recursive: true });
  for (const shared of ['package.json', 'node_modules']) symlinkSync(join(ROOT, shared), join(folder, shared));
  writeFileSync(join(build, 'src/store/migrations/9001-tomorrow.sql'), TOMORROW);
  return build;
}
