/** A gateway with a merchant, and an operator's command line beside it, on one database. */

import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';
import { openWorld, WORLD_MASTER_KEY, type World, type WorldOptions } from './world.ts';

export interface CommandWorld {
  readonly world: World;
  readonly cli: CommandLine;
  readonly merchant: MerchantCreated;
  close(): Promise<void>;
}

/** Opens both; what the world has sealed, the command line opens. */
export async function openCommandWorld(options: WorldOptions = {}): Promise<CommandWorld> {
  const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' }, ...options });
  const cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
  return {
    world,
    cli,
    merchant: await world.merchant(),
    async close() {
      await cli.close();
      await world.close();
    },
  };
}
