/**
 * The route that reads a merchant's balances (contract §9).
 */

import { formatMinor } from '../domain/money.ts';
import { type CurrencyBalances, readBalances } from '../usecases/balances-read.ts';
import type { Deps } from '../usecases/deps.ts';
import { BalancesAnswer } from './books-schemas.ts';
import { defineRoute, type Route } from './route.ts';

/** `GET /internal/balances`, for a merchant's backend. */
export function balanceRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/balances',
      operationId: 'readBalances',
      summary: 'Read your balances',
      description: 'The present available, reserved and held balance in each currency.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      answers: { 200: BalancesAnswer },
      refusals: [],
      run: async (call) => {
        const balances = await readBalances(deps, call.caller.merchant);
        return call.reply(200, { success: true, balances: balances.map(presentBalances) });
      },
    }),
  ];
}

function presentBalances({ currency, available, reserved, held }: CurrencyBalances) {
  return {
    currency,
    available: formatMinor(available, currency),
    reserved: formatMinor(reserved, currency),
    held: formatMinor(held, currency),
  };
}
