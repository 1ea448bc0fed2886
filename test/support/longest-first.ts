/**
 * The order of the test files: those first that take minutes whatever their size says, so that the others fill the time
 * beside them and none of them is left to run alone at the end.
 */
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG = ['payout-kill', 'kill', 'processes', 'processes-chaos', 'upgrade', 'payout-carrier', 'docs'];

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONG.indexOf(basename(moduleId, '.test.ts'));
  return place < 0 ? LONG.length : place;
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}
