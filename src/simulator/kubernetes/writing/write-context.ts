// What every write needs besides its object.
import type { Clock } from '../../../scheduling/clock.ts';
import type { Random } from '../../../scheduling/random.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export interface WriteContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
}

/** Where a write goes. */
export interface WriteTarget {
  readonly type: ResourceType;
  /** Empty for resources without namespace. */
  readonly namespace: string;
}

export interface WriteOptions {
  /** Everything is done and answered except that nothing is kept. */
  readonly dryRun: boolean;
  /** Told what the client should know though the write goes through. */
  readonly warn: (text: string) => void;
}
