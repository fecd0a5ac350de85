// Finds addresses that a node's agent is shown and does not use: pods that wait beside them wait for the agent, not for
// the cloud. Pure.
import type { CiliumNode } from '../../kubernetes/cilium-node/cilium-node.ts';
import type { InstanceView } from '../../providers/contract/facts.ts';
import { addressesOn } from '../../providers/contract/shown-interfaces.ts';
import { type AgentProtocol, protocolOf, startThresholdOf, usedAddresses } from '../demand/demand.ts';
import { type AskedRequirements, exclusionOf } from '../demand/node-requirements.ts';
import { usageOf } from '../release/prepare-ip-release.ts';

export interface Untaken {
  /**
   * `unlisted`: a multi-pool agent needs more than the CIDRs that it lists, and the others that it is shown are not
   * listed. `free`: the agent could give an address to a pod now.
   */
  readonly kind: 'unlisted' | 'free';
  readonly addresses: number;
}

/**
 * How long pods must wait beside such addresses before it is reported, in ms. What a multi-pool agent reports may be late by its
 * debounce and its refresh, 75 s together.
 */
export const untakenFor: Readonly<Record<AgentProtocol, number>> = { crd: 60_000, 'multi-pool': 90_000 };

type ShowingNode = Pick<CiliumNode, 'ipam' | 'status'>;

/** Undefined if there are none. Counts what the CiliumNode shows, which may differ from what the cloud has. */
export function untakenAddresses(
  node: ShowingNode,
  view: Pick<InstanceView, 'interfaces'>,
  requirements: AskedRequirements,
): Untaken | undefined {
  const usable = view.interfaces.filter((item) => exclusionOf(item, requirements) === undefined);
  const shown = new Set(usable.map(({ id }) => id).filter((id) => node.status.interfaces.has(id)));
  return protocolOf(node) === 'crd' ? freeInPool(node, shown) : untakenOn(node, shown);
}

/**
 * An address in the handshake goes to no pod (docs/ciliumnode-contract.md 3.1). An agent below its start threshold would
 * not start again, so the node lacks addresses.
 */
function freeInPool(node: ShowingNode, shown: ReadonlySet<string>): Untaken | undefined {
  const { ipam, status } = node;
  if (ipam.pool.size < (startThresholdOf(node)?.addresses ?? 0)) return undefined;
  const free = [...ipam.pool].filter(
    ([address, { resource }]) =>
      shown.has(resource) && !status.used.has(address) && !status.releaseIps.has(address),
  );
  return untaken('free', free.length);
}

/** The demand counts failed attempts as well as addresses in use, so it exceeds what an exhausted agent lists. */
function untakenOn(node: ShowingNode, shown: ReadonlySet<string>): Untaken | undefined {
  const isListed = usageOf(node);
  const interfaces = new Map([...node.status.interfaces].filter(([id]) => shown.has(id)));
  const addresses = new Set(addressesOn(interfaces));
  const unlisted = [...addresses].filter((address) => !isListed(address)).length;
  const demand = usedAddresses(node);
  if (unlisted > 0 && demand >= addresses.size - unlisted) return untaken('unlisted', unlisted);
  return untaken('free', addresses.size - demand);
}

function untaken(kind: Untaken['kind'], addresses: number): Untaken | undefined {
  return addresses > 0 ? { kind, addresses } : undefined;
}
