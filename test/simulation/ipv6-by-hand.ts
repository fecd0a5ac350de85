// Somebody gives an interface an IPv6 prefix, or takes one, while the controller runs.
import { assignIpv6, unassignIpv6 } from '../../src/simulator/cloud/assignments.ts';
import { CloudRefusal } from '../../src/simulator/cloud/cloud-refusal.ts';
import { noIpv6 } from '../../src/simulator/cloud/ipv6-claims.ts';
import type { Harness } from './harness.ts';
import type { FaultPlan } from './scenario.ts';

type Plan = Extract<FaultPlan, { readonly kind: 'ipv6-by-hand' }>;

export function ipv6ByHand(harness: Harness, { deed, node }: Plan): void {
  const { network } = harness.cluster;
  const facts = harness.nodeAt(node);
  const own = [...network.interfaces.values()].filter((item) => item.instanceId === facts?.instanceId);
  try {
    if (deed === 'assign') {
      const item = own.find(({ subnetId }) => network.subnets.get(subnetId)?.ipv6Block !== undefined);
      if (item !== undefined) assignIpv6(network, item.id, { ...noIpv6, prefixCount: 1 });
    } else {
      const item = own.find(({ ipv6Prefixes }) => ipv6Prefixes.length > 0);
      if (item !== undefined)
        unassignIpv6(network, item.id, { ipv6Addresses: [], ipv6Prefixes: item.ipv6Prefixes });
    }
  } catch (refusal) {
    if (!(refusal instanceof CloudRefusal)) throw refusal;
  }
}
