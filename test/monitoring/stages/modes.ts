// Each mode that gives blocks to nodes, with a pool that runs dry: a node waits for a block, and a pod on it.
import { addPod, dryPools } from '../../support/dry-pools.ts';
import type { Stage } from './stage.ts';

/** How long each is played, in ms: as long as an alert and the range that it reads need. */
export const modeLength = 25 * 60_000;

export const modes: readonly Stage[] = dryPools.map(([name, open]) => ({
  name,
  play: async (record) => {
    const { world, registry } = await open();
    await addPod(world, 'c');
    const played = { clock: world.clock, advance: (ms: number) => world.clock.advance(ms) };
    await record.advance(played, [registry], modeLength);
  },
}));
