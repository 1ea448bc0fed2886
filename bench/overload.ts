/**
 * `npm run bench -- overload`: what remains of the peak when five times as much is offered, how quickly a refusal comes, and how
 * quickly the gateway recovers.
 *
 * Peak, overload and recovery follow each other in one round, so that the share is taken within it. The load generator,
 * the carrier, the gateway and PostgreSQL share this machine's cores: what the load spends on sending and on reading refusals
 * is missing from the goodput.
 *
 * Options: `--seconds N` of overload (10), after two that do not count, `--rounds N` (3), `--factor N` (5), `--json`.
 */

import { parseArgs } from 'node:util';
import { makeMerchants } from './merchants.ts';
import type { Kind, OverloadOrder, OverloadReport } from './overload-load.ts';
import { openStage } from './stage.ts';
import { median } from './stats.ts';
import { tellerOf } from './teller.ts';
import { freePort, load, type Used } from './worlds.ts';

const MERCHANTS = 10;
const KINDS: readonly Kind[] = ['read', 'begin', 'collect', 'finish'];

type Round = OverloadReport & Used & { readonly callbacksRefused: number };

export async function benchOverload(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '3' },
      factor: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
    },
  });
  const { say, hand } = tellerOf(values);
  const stage = await openStage();
  const credentials = await makeMerchants(stage.gatewayEnv, MERCHANTS);
  const rounds: Round[] = [];
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const order: OverloadOrder = {
      gateway: stage.gatewayUrl,
      credentials,
      receiverPort: await freePort(),
      // The JIT compilers are busy that long.
      warmupSeconds: round === 1 ? 15 : 1,
      peakSeconds: 4,
      factor: Number(values.factor),
      leadSeconds: 2,
      overloadSeconds: Number(values.seconds),
      recoverySeconds: 30,
    };
    const before = await callbacksRefused(stage.gatewayUrl);
    const report = await load<OverloadReport>('./overload-load.js', order, stage.pids);
    const found = { ...report, callbacksRefused: (await callbacksRefused(stage.gatewayUrl)) - before };
    rounds.push(found);
    for (const line of linesOf(`round ${round}`, found)) say(line);
  }
  await stage.close();
  const summary = summaryOf(rounds);
  say(
    `median of ${rounds.length}: ${(summary.goodputShare * 100).toFixed(0)} % of the peak, refusals p50/p99 ` +
      `${summary.refusedP50.toFixed(0)}/${summary.refusedP99.toFixed(0)} ms, recovered after ${summary.recoveredAfterSeconds.toFixed(1)} s`,
  );
  hand({ ...summary, rounds });
}

/** The carrier makes callbacks, so only the gateway knows how many it refused. */
async function callbacksRefused(gateway: string): Promise<number> {
  const text = await (await fetch(`${gateway}/metrics`)).text();
  return Number(/^mbongo_http_shed_total\{class="callback"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

function summaryOf(rounds: readonly Round[]) {
  const of = (figure: (round: Round) => number): number => median(rounds.map(figure));
  return {
    goodputShare: of((round) => round.goodPerSecond / round.peakPerSecond),
    // The worst kind of request in a round.
    refusedP50: of(({ kinds }) => Math.max(...KINDS.map((kind) => kinds[kind].refused.p50))),
    refusedP99: of(({ kinds }) => Math.max(...KINDS.map((kind) => kinds[kind].refused.p99))),
    recoveredAfterSeconds: of((round) => round.recoveredAfterSeconds ?? Number.POSITIVE_INFINITY),
    lost: of(({ lost }) => lost),
    gatewayMiB: of(({ gatewayMiB }) => gatewayMiB),
  };
}

function linesOf(name: string, round: Round): string[] {
  const { peakPerSecond, offeredPerSecond, goodPerSecond, recoveredAfterSeconds } = round;
  return [
    `${name}: peak ${peakPerSecond.toFixed(0)} payments/s, offered ${offeredPerSecond.toFixed(0)}, ` +
      `good ${goodPerSecond.toFixed(0)} (${((goodPerSecond / peakPerSecond) * 100).toFixed(0)} %), ` +
      `well again after ${recoveredAfterSeconds?.toFixed(1) ?? 'more than 30'} s, lost ${round.lost}, ` +
      `${round.connections} connections, ${round.gatewayMiB} MiB, callbacks refused ${round.callbacksRefused}, ` +
      `load ${round.cpuSeconds.toFixed(1)} s of CPU, late by ${round.ownLagMs.toFixed(0)} ms`,
    ...KINDS.map((kind) => {
      const { offered, admitted, refused, malformed, broken, unsent, others } = round.kinds[kind];
      return (
        `  ${kind.padEnd(8)} offered ${offered}, refused ${((refused.count / Math.max(1, offered)) * 100).toFixed(1)} % in ` +
        `${refused.p50.toFixed(0)}/${refused.p99.toFixed(0)} ms, admitted in ${admitted.p50.toFixed(0)}/${admitted.p99.toFixed(0)} ms` +
        `${malformed > 0 ? `, ${malformed} MALFORMED` : ''}${broken > 0 ? `, ${broken} broken` : ''}` +
        `${unsent > 0 ? `, ${unsent} without a free connection` : ''}` +
        `${Object.keys(others).length > 0 ? `, others ${JSON.stringify(others)}` : ''}`
      );
    }),
  ];
}
