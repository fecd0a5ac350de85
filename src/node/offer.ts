// What a node's agent is to be shown: the interfaces and the pool of addresses.
import type { AllocationImplementation, InstanceLimits } from '../providers/allocation-implementation.ts';
import type { Infrastructure } from '../providers/infrastructure.ts';
import type { InstanceView } from '../providers/instance-view.ts';
import type { Json } from '../kubernetes/json.ts';
import { podAddresses, reachablePreAllocate } from './capacity.ts';
import type { NodeRequirements } from './node-requirements.ts';
import { primaryInterface } from './primary-interface.ts';
import type { Offer } from './publication.ts';

export interface OfferFacts {
  readonly view: InstanceView;
  readonly requirements: NodeRequirements;
  readonly limits: InstanceLimits | undefined;
  readonly infrastructure: Infrastructure;
  readonly implementation: Pick<AllocationImplementation, 'statusKey' | 'statusOf'>;
  /** Leaves out what the API server would not keep. */
  readonly prune: (value: Json, path: readonly string[]) => Json | undefined;
}

/** The view without interfaces whose subnet or network is not known: agents could not set those up. */
export function showable(view: InstanceView, { subnets, networks }: Infrastructure): InstanceView {
  const interfaces = view.interfaces.filter(
    (item) => subnets.has(item.subnetId) && networks.has(item.networkId),
  );
  return interfaces.length === view.interfaces.length ? view : { ...view, interfaces };
}

/** Addresses that are not to be shown in that part, whether or not the cloud has them. */
export interface Withheld {
  readonly status: ReadonlySet<string>;
  readonly pool: ReadonlySet<string>;
}

export function offerOf(facts: OfferFacts, withheld: Withheld): Offer {
  const { requirements, limits, infrastructure, implementation, prune } = facts;
  const view = showable(facts.view, infrastructure);
  const { usePrimaryAddress } = requirements;
  const key = implementation.statusKey;
  const value = implementation.statusOf(view, {
    infrastructure,
    usePrimaryAddress,
    withheld: withheld.status,
  });
  const pool = podAddresses(view, requirements);
  for (const address of withheld.pool) pool.delete(address);
  return {
    provider: { key, value: prune(value as Json, ['status', key]) ?? {} },
    interfaces: new Set(view.interfaces.map(({ id }) => id)),
    pool,
    preAllocate: reachablePreAllocate(limits, requirements),
    staticIp: prunedStaticIp(staticIpOf(facts.view), prune),
  };
}

/** Nothing at all: in place of what an object shows of another instance. */
export function emptyOffer(
  view: InstanceView,
  { implementation, infrastructure, prune }: Pick<OfferFacts, 'implementation' | 'infrastructure' | 'prune'>,
): Offer {
  const shown = { infrastructure, usePrimaryAddress: false, withheld: new Set<string>() };
  const value = implementation.statusOf({ ...view, interfaces: [] }, shown) as Json;
  return {
    provider: { key: implementation.statusKey, value },
    interfaces: new Set(),
    pool: new Map(),
    preAllocate: 0,
    staticIp: prunedStaticIp('', prune),
  };
}

/** Of an excluded primary interface as well. Undefined where the primary interface is there and not known. */
function staticIpOf(view: InstanceView): string | undefined {
  const primary = primaryInterface(view);
  if (primary !== undefined) return primary.publicAddress ?? '';
  return view.interfaces.length + view.unreadable.length === 0 ? '' : undefined;
}

function prunedStaticIp(staticIp: string | undefined, prune: OfferFacts['prune']): string | undefined {
  if (staticIp === undefined) return undefined;
  return prune(staticIp, ['status', 'ipam', 'assigned-static-ip']) === undefined ? undefined : staticIp;
}
