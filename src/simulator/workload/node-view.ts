// The state of one node for invariant checks. The maps are live: they belong to the agents.
import type { AgentPhase } from './agent.ts';
import type { Machine } from './machine.ts';
import type { NodeFacts, Protocol } from './node-facts.ts';
import type { Violation } from './violation-log.ts';
import type { WaitFigures } from './waiting-times.ts';

export interface NodeView {
  readonly nodeName: string;
  readonly facts: NodeFacts;
  readonly protocol: Protocol;
  readonly phase: AgentPhase;
  /** `namespace/name`, `router` or `health` by address; also while the agent is down. */
  readonly addressesInUse: ReadonlyMap<string, string>;
  /** The same of IPv6. */
  readonly ipv6InUse: ReadonlyMap<string, string>;
  /** Those that the CiliumNode does not offer now. */
  readonly missingAddresses: ReadonlyMap<string, string>;
  readonly violations: readonly Violation[];
  /** Pods without an address, and since when they wait, in monotonic ms. */
  readonly pendingPods: ReadonlyMap<string, number>;
  /** Waits of the pods that have one. */
  readonly waits: WaitFigures;
}

export function nodeViewOf({ facts, agent, memory, kubelet }: Machine): NodeView {
  return {
    nodeName: facts.name,
    facts,
    protocol: agent.protocol,
    phase: agent.phase,
    addressesInUse: memory.endpoints,
    ipv6InUse: memory.ipv6Endpoints,
    missingAddresses: agent.missingAddresses(),
    violations: memory.violations.entries,
    pendingPods: kubelet.waiting,
    waits: kubelet.waits,
  };
}
