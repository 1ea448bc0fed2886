/**
 * A desk for card payments at an unreliable network: the network, a world that uses it, and a merchant.
 *
 * Invariant: `reset` restores the network's own answers; `close` demands that the books balance.
 */

import { expect } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CardPaying, collectByCard } from './card-payments.ts';
import { type FickleNetwork, openFickleNetwork } from './fickle-network.ts';
import { openWorld, type World } from './world.ts';

export interface FickleDesk {
  readonly network: FickleNetwork;
  readonly world: World;
  readonly merchant: MerchantCreated;
  /** The environment that makes a gateway use that network. */
  readonly env: Readonly<Record<string, string>>;
  /** A collected card payment that can be paid for two hours. */
  collected(): Promise<CardPaying>;
  /** To be called between two tests. */
  reset(): void;
  close(): Promise<void>;
}

export async function openFickleDesk(): Promise<FickleDesk> {
  const network = await openFickleNetwork();
  const env = { CARDNET_BASE_URL: network.url, RATE_LIMIT_SCALE: '0' };
  const world = await openWorld({ env });
  const merchant = await world.merchant();
  return {
    network,
    world,
    merchant,
    env,
    collected: () => collectByCard(world, merchant, { minted: { ttl_seconds: 7_200 } }),
    reset: () => {
      world.sandbox.faults.clear();
      Object.assign(network, { issuer: 'PENDING', status: 'AUTHENTICATED', pays: 'APPROVED' });
      for (const asked of ['form', 'initiate', 'look', 'pay', 'inquire', 'order'] as const) {
        network.instead(asked, undefined);
      }
    },
    close: async () => {
      expect((await world.gateway.store.auditAll()).findings).toEqual([]);
      await world.close();
      await network.close();
    },
  };
}
