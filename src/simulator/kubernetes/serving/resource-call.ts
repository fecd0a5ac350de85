// One request for a resource, and what its handlers need.
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
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
  /** Whether a list must show no objects. */
  readonly isEmptied: boolean;
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
  /** Unread changes that a watcher may have. */
  readonly watchBacklog: number;
  readonly plainEvents: EventEncoding;
}
