// Refreshes single instances whose state is unconfirmed, or of which an interface is awaited. Batches many requests into
// one call and applies the result to the inventory.
import { Batcher } from '../../runtime/batcher.ts';
import type { CloudReader, ObservedPage } from '../contract/cloud.ts';
import type { Observation } from '../contract/facts.ts';
import { type CloudError, maxPause } from '../contract/cloud-failure.ts';
import { AwaitedRefresh } from './awaited-refresh.ts';
import type { Inventory } from './inventory.ts';

type Emit = (event: InstanceRefreshEvent) => void;

export type InstanceRefreshEvent =
  /** Emitted for each page, before it is applied. */
  | { readonly kind: 'page'; readonly page: ObservedPage }
  /** `read`: the instances that the read answered for. `changed`: those of them that changed. */
  | { readonly kind: 'read'; readonly read: readonly string[]; readonly changed: ReadonlySet<string> }
  | { readonly kind: 'failed'; readonly error: unknown; readonly instanceIds: readonly string[] };

/** How long a refresh waits for others to share its call, in ms. */
const window = 50;

export class InstanceRefresh {
  readonly #refreshes: Batcher<string>;
  /** A batch of its own: the cloud knows these instances, and refreshes that keep failing must not delay theirs. */
  readonly #awaitedRefreshes: Batcher<string>;
  readonly #awaited: AwaitedRefresh;

  /** `consistencyWindow`: how long the cloud may take to show a change, in ms. */
  constructor(reader: CloudReader, inventory: Inventory, consistencyWindow: number, emit: Emit) {
    const { implementation, clock, random } = reader;
    const awaitedReader = { ...reader, random: random.fork('awaited') };
    this.#refreshes = batchedRefresh(reader, inventory, emit);
    this.#awaitedRefreshes = batchedRefresh(awaitedReader, inventory, emit);
    this.#awaited = new AwaitedRefresh({
      clock,
      consistencyWindow,
      max: implementation.maxInstancesPerRefresh,
      refresh: (instanceId) => void this.#awaitedRefreshes.request(instanceId),
      isAwaited: (instanceId) => (inventory.view(instanceId)?.awaited.size ?? 0) > 0,
    });
  }

  /** Resolves once the result of a refresh that starts after this is in the inventory, however many tries it takes. */
  request(instanceId: string): Promise<void> {
    return this.#refreshes.request(instanceId);
  }

  /** Refreshes the instance until nothing of it is awaited. `since`: when its newest interface was attached. */
  awaitAttachment(instanceId: string, since: number): void {
    this.#awaited.add(instanceId, since);
  }

  /** Aborts the call in flight and starts no other; resolves once it ends. */
  async stop(): Promise<void> {
    this.#awaited.stop();
    await Promise.all([this.#refreshes.stop(), this.#awaitedRefreshes.stop()]);
  }
}

function batchedRefresh(reader: CloudReader, inventory: Inventory, emit: Emit): Batcher<string> {
  const { implementation, clock, random } = reader;
  return new Batcher({
    clock,
    random,
    window,
    max: implementation.maxInstancesPerRefresh,
    backoff: { base: 1000, cap: 30_000 },
    maxPause,
    onFailure: (error, instanceIds) => emit({ kind: 'failed', error, instanceIds }),
    run: async (instanceIds, signal) => {
      const observations: Observation[] = [];
      const failed = new Map<string, CloudError>();
      const partly = new Set<string>();
      let startedAt: number | undefined;
      const context = { caller: { priority: 'high' as const }, signal };
      for await (const page of implementation.observe({ kind: 'instances', instanceIds }, context)) {
        startedAt ??= page.startedAt;
        observations.push(...page.observations);
        for (const { instanceId, error } of page.failed ?? []) failed.set(instanceId, error);
        for (const instanceId of page.unclear?.instanceIds ?? []) partly.add(instanceId);
        emit({ kind: 'page', page });
      }
      const endedAt = clock.monotonic();
      const read = instanceIds.filter((id) => !failed.has(id));
      const changed = inventory.applyRefresh({
        startedAt: startedAt ?? endedAt,
        endedAt,
        instanceIds: read,
        observations,
        partly,
      });
      emit({ kind: 'read', read, changed });
      return failed;
    },
  });
}
