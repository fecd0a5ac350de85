import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { CloudHistory } from '../cloud-history.ts';

describe('an inventory beside a cloud whose reads are late and torn', () => {
  test('never drops what the cloud has, and drops what the cloud no longer has after two refreshes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 4 }), fc.integer({ min: 5, max: 80 }), async (seed, steps) => {
        const history = new CloudHistory(seed);

        await history.unfold(steps);
        await history.settle();

        expect(history.lost).toEqual([]);
        expect(history.inInventory()).toEqual(history.inCloud());
      }),
      {
        numRuns: 300,
        // One refresh shows an address again and misses an interface, and is not over for a while.
        examples: [['9 *Yv) ', 16]],
      },
    );
  });
});
