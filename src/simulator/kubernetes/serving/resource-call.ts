// One request for a resource, and what its handlers work with.
import type { Clock } from '../../../scheduling/clock.ts';
import type { Random } from '../../../scheduling/random.ts';
import type { KubernetesRequest } from '../exchange.ts';
import type { OpenWatches } from '../reading/open-watches.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { EventEncoding } from './event-encoding.ts';
import type { ResourceTarget } from './request-target.ts';

export interface ResourceCall {
  readonly request: KubernetesRequest;
  readonly query: URLSearchParams;
  readonly type: ResourceType;
  readonly target: ResourceTarget;
  readonly signal: AbortSignal;
  /** Adds a warning to the answer. */
  readonly warn: (text: string) => void;
  readonly server: ServerParts;
}

export interface ServerParts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** For uids and generated names. */
  readonly random: Random;
  /** For the length of watches. */
  readonly watchRandom: Random;
  readonly openWatches: OpenWatches;
  /** How many changes a watcher may let lie. */
  readonly watchBacklog: number;
  readonly plainEvents: EventEncoding;
}
