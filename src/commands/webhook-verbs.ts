/**
 * The verbs of `mbongo webhook`.
 *
 * Invariant: events of a span are sent again only with --yes.
 */

import type { Command } from 'commander';
import type { Io } from './output.ts';
import type { AddVerb, AddVerbOf, Ended } from './verb.ts';
import type { WebhookListenOptions } from './webhook-listen.ts';

/**
 * Adds `mbongo webhook` with the verbs `list`, `show`, `replay` and `listen`, and `secret rotate`. `listen` needs no database: it
 * runs with `io` alone, and reports its exit status to `ended`.
 */
export function addWebhookCommands(
  program: Command,
  addVerb: AddVerb,
  addVerbOf: AddVerbOf,
  io: Io,
  ended: Ended,
): void {
  const webhook = program.command('webhook').description('webhook events and their signing secrets');
  const load = () => import('./webhook.ts');
  addVerb(webhook, 'list', 'list events, the oldest first', async () => (await load()).webhookList)
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'waiting, delivered, dead, gone or no_target')
    .option('--from <time>', 'only those made at or after this time')
    .option('--to <time>', 'only those made before this time')
    .option('--after <id>', 'those after this event: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(webhook, 'show', 'show an event, and each try with its answer', async () => (await load()).webhookShow);
  addVerb(
    webhook,
    'replay',
    'send one event again, or all of a span; a span needs --yes',
    async () => (await load()).webhookReplay,
  )
    .option('--event <id>', 'the event to send again')
    .option('--from <time>', 'or all events made at or after this time: 2026-03-01T08:00:00Z')
    .option('--to <time>', 'and before this time (default: now)')
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'only with this status, for example dead')
    .option('--yes', 'confirm a span; without it nothing is sent');
  webhook
    .command('listen')
    .description('receive webhooks on this machine and show each one, until stopped')
    .option('--json', 'print one JSON document per line: where it listens, then each webhook')
    .option('--port <port>', 'the port to listen on; 0 takes any free one', '8095')
    .option(
      '--secret <secret>',
      'whsec_…, the signing secret: verify each webhook with it; -: the first line of the input, so that no other user sees it',
    )
    .action(async (options: WebhookListenOptions) =>
      ended(await (await import('./webhook-listen.ts')).webhookListen(io, options)),
    );
  const secret = webhook.command('secret').description('signing secrets');
  addVerb(secret, 'rotate', "replace a merchant's signing secret", async () => (await load()).webhookSecretRotate)
    .requiredOption('--merchant <id>', "the merchant's id")
    .option('--grace <duration>', 'how long webhooks are signed with the old one too', '24h');
}
