/**
 * A process that posts one webhook event from memory, as a gateway does right after its commit. Tests kill it.
 */
import { bytesOfId, idOfBytes, shardOf } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createOutbound } from '../../src/platform/outbound.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { memoryLog } from '../../src/platform/testing/memory-log.ts';
import { openStore } from '../../src/store/store.ts';
import { createCourier } from '../../src/usecases/webhook-deliver.ts';

const [databaseUrl = '', masterKey = '', eventId = ''] = process.argv.slice(2);
const random = systemRandom();
const store = await openStore({ url: databaseUrl });
const courier = createCourier({
  store,
  random,
  clock: systemClock(),
  log: memoryLog(),
  outbound: createOutbound({ allowLoopback: true, requireHttps: false }),
  secrets: openSecrets({
    masterKeys: [masterKey],
    random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  }),
});
const event = await store.event.get(shardOf(eventId), eventId);
if (event === undefined) throw new Error('usage: courier-process.ts <database url> <master key> <event id>');
courier.offer(event);
