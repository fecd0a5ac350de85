// The needs of every write besides its object.
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { FieldWriter } from '../objects/managed-fields.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { ObjectStore } from '../storage/object-store.ts';

export interface WriteContext {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
}

/** The target of a write. */
export interface WriteTarget {
  readonly type: ResourceType;
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
}

export interface WriteOptions {
  readonly writer: FieldWriter;
  /** Everything is done and answered, but nothing is stored. */
  readonly dryRun: boolean;
  /** Receives warnings for the client although the write succeeds. */
  readonly warn: (text: string) => void;
}
