// Checks the invariants of a cluster on a real API server again and again while tests run, by what the cloud holds,
// what the agents remember and what the API server shows.
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { type InvariantViolation, invariantViolations } from '../../../src/simulator/cluster/invariants.ts';
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import type { WorkloadFleet } from '../../../src/simulator/workload/workload-fleet.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';

export interface ClusterInvariantsOptions {
  readonly network: CloudNetwork;
  readonly workload: WorkloadFleet;
  /** All CiliumNodes; rejects if the API server does not answer. */
  readonly listNodes: () => Promise<readonly JsonObject[]>;
  readonly clock: Clock;
  /** Between two checks, in ms; 500 by default. */
  readonly interval?: number;
}

const usualInterval = 500;

export class ClusterInvariants {
  readonly #options: ClusterInvariantsOptions;
  /** By text, so that a lasting violation is recorded once. */
  readonly #found = new Map<string, InvariantViolation>();
  #checks = 0;

  constructor(options: ClusterInvariantsOptions) {
    this.#options = options;
  }

  /** Texts of all violations so far. */
  get violations(): readonly string[] {
    return [...this.#found.keys()];
  }

  /** Number of complete checks. */
  get checks(): number {
    return this.#checks;
  }

  /** Checks until `signal` is aborted, then rejects with its reason. */
  async watch(signal: AbortSignal): Promise<never> {
    const { clock, interval = usualInterval } = this.#options;
    for (;;) {
      await this.check().catch(() => undefined);
      await sleep(clock, interval, signal);
    }
  }

  /** Rejects if the API server does not answer. */
  async check(): Promise<void> {
    const { workload, listNodes } = this.#options;
    this.#record([], workload.views);
    const before = workload.views.map(copyOf);
    const nodes = await listNodes();
    // Ignores uses that started or ended meanwhile, because the list may rightly differ.
    const after = new Map(workload.views.map((view) => [view.nodeName, view]));
    const views = before.flatMap((view) => {
      const now = after.get(view.nodeName);
      return now?.facts === view.facts && now.protocol === view.protocol ? [withStayed(view, now)] : [];
    });
    this.#record(nodes, views);
    this.#checks++;
  }

  #record(nodes: readonly JsonObject[], views: readonly NodeView[]): void {
    const { network, workload } = this.#options;
    const byName = new Map(nodes.map((node) => [textAt(node, 'metadata', 'name'), node]));
    const violations = invariantViolations({
      network,
      workload: { views, violations: workload.violations },
      kubernetes: { get: (_, name) => byName.get(name), list: () => nodes },
    });
    for (const violation of violations) this.#found.set(violation.text, violation);
  }
}

function copyOf(view: NodeView): NodeView {
  return {
    ...view,
    addressesInUse: new Map(view.addressesInUse),
    ipv6InUse: new Map(view.ipv6InUse),
  };
}

function withStayed(before: NodeView, now: NodeView): NodeView {
  return {
    ...before,
    addressesInUse: inBoth(before.addressesInUse, now.addressesInUse),
    ipv6InUse: inBoth(before.ipv6InUse, now.ipv6InUse),
  };
}

function inBoth(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map([...before].filter(([address, user]) => now.get(address) === user));
}
