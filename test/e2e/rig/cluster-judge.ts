// Whether all is well in a cluster on a real API server, by what the cloud holds, what the agents remember and what the API
// server shows: looked at again and again while tests go on.
import { type Clock, sleep } from '../../../src/runtime/clock.ts';
import { type InvariantViolation, invariantViolations } from '../../../src/simulator/cluster/invariants.ts';
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import type { WorkloadFleet } from '../../../src/simulator/workload/fleet.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';
import type { NodeView } from '../../../src/simulator/workload/node-view.ts';

export interface Judgement {
  readonly network: CloudNetwork;
  readonly workload: WorkloadFleet;
  /** All CiliumNodes; rejects where the API server does not answer. */
  readonly listNodes: () => Promise<readonly JsonObject[]>;
  readonly clock: Clock;
  /** Between two looks, in ms; 500 if not given. */
  readonly interval?: number;
}

const usualInterval = 500;

export class ClusterJudge {
  readonly #judgement: Judgement;
  /** By their texts: what lasts is told once. */
  readonly #breaches = new Map<string, InvariantViolation>();
  #looks = 0;

  constructor(judgement: Judgement) {
    this.#judgement = judgement;
  }

  /** Everything that never may be, seen so far. */
  get broken(): readonly string[] {
    return [...this.#breaches.keys()];
  }

  /** How often it could see everything. */
  get looks(): number {
    return this.#looks;
  }

  /** Looks until `signal` is aborted, and rejects with its reason then. */
  async watch(signal: AbortSignal): Promise<never> {
    const { clock, interval = usualInterval } = this.#judgement;
    for (;;) {
      await this.look().catch(() => undefined);
      await sleep(clock, interval, signal);
    }
  }

  /** Rejects where the API server does not answer. */
  async look(): Promise<void> {
    const { workload, listNodes } = this.#judgement;
    this.#note([], workload.views);
    const before = workload.views.map(copyOf);
    const nodes = await listNodes();
    // What was begun or ended meanwhile the list may rightly show otherwise.
    const after = new Map(workload.views.map((view) => [view.nodeName, view]));
    const views = before.flatMap((view) => {
      const now = after.get(view.nodeName);
      return now?.facts === view.facts && now.protocol === view.protocol ? [withStayed(view, now)] : [];
    });
    this.#note(nodes, views);
    this.#looks++;
  }

  #note(nodes: readonly JsonObject[], views: readonly NodeView[]): void {
    const { network, workload } = this.#judgement;
    const byName = new Map(nodes.map((node) => [textAt(node, 'metadata', 'name'), node]));
    const breaches = invariantViolations({
      ec2: { network },
      workload: { views, violations: workload.violations },
      kubernetes: { get: (_, name) => byName.get(name), list: () => nodes },
    });
    for (const breach of breaches) this.#breaches.set(breach.text, breach);
  }
}

function copyOf(view: NodeView): NodeView {
  return { ...view, addressesInUse: new Map(view.addressesInUse) };
}

function withStayed(before: NodeView, now: NodeView): NodeView {
  const stayed = [...before.addressesInUse].filter(
    ([address, user]) => now.addressesInUse.get(address) === user,
  );
  return { ...before, addressesInUse: new Map(stayed) };
}
