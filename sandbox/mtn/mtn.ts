/**
 * Assembles MTN: its two products and their routes.
 * Invariant: faults strike the calls of both products alike.
 */
import type { FastifyInstance } from 'fastify';
import { behaviourOf, payoutBehaviourOf } from '../carriers/endings.ts';
import { faultHooks } from '../control/fault-hooks.ts';
import type { Faults } from '../control/faults.ts';
import type { World } from '../world.ts';
import type { Movements } from './movements.ts';
import { createProduct, type Product } from './product.ts';
import type { WireError } from './request.ts';
import { mtnRoutes } from './routes.ts';
import type { MtnCredentials } from './tokens.ts';

export type MtnParts = {
  readonly world: World;
  readonly faults: Faults;
  readonly collections: Movements;
  readonly disbursements: Movements;
  readonly collectionCredentials: MtnCredentials;
  readonly disbursementCredentials: MtnCredentials;
};

const prefix = '/mtn';

export async function registerMtn(app: FastifyInstance, parts: MtnParts): Promise<void> {
  const { world, faults } = parts;
  const products = [collection(parts), disbursement(parts)];
  const hooks = faultHooks('mtn', faults, world);
  await app.register(async (scope) => mtnRoutes(scope, products, hooks), { prefix });
}

/** The refusal that the faults of MTN order, in its own form. */
function refusedBy(faults: Faults): WireError | undefined {
  const { refusal } = faults.plans().mtn;
  if (refusal === null) return undefined;
  return { status: refusal.status, body: { code: refusal.code, message: 'The request is refused.' } };
}

function collection({ world, faults, collections, collectionCredentials }: MtnParts): Product {
  return createProduct(world, {
    name: 'collection',
    resource: 'requesttopay',
    party: 'payer',
    movements: collections,
    credentials: collectionCredentials,
    refused: () => refusedBy(faults),
    hasAccount: (msisdn) => (behaviourOf(msisdn).answer === 'down' ? undefined : true),
  });
}

function disbursement({ world, faults, disbursements, disbursementCredentials }: MtnParts): Product {
  return createProduct(world, {
    name: 'disbursement',
    resource: 'transfer',
    party: 'payee',
    movements: disbursements,
    credentials: disbursementCredentials,
    refused: () => refusedBy(faults),
    hasAccount: (msisdn) => {
      const { answer, decision } = payoutBehaviourOf(msisdn);
      return answer === 'down' ? undefined : decision !== 'no_account';
    },
  });
}
