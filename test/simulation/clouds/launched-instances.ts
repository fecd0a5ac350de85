// Instances that come and go in a cloud that gives them interfaces of their own.
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { CloudNetwork } from '../../../src/simulator/cloud/cloud-network.ts';
import { CloudRefusal } from '../../../src/simulator/cloud/cloud-refusal.ts';
import { launch, type LaunchRequest, terminate } from '../../../src/simulator/cloud/instances.ts';
import type { InterfaceRequest } from '../../../src/simulator/cloud/network-interfaces.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';

/** Parts of an instance that only one cloud has. */
export interface OwnParts extends Pick<LaunchRequest, 'imageId' | 'reservationId'> {
  /** The request for the primary interface. */
  readonly request: InterfaceRequest;
}

/** Launches an instance like the given one; undefined while its subnet has no address left. */
export function launchLike(
  network: CloudNetwork,
  { subnetId, instanceType: type }: NodeFacts,
  make: () => OwnParts,
): Pick<NodeFacts, 'instanceId' | 'primaryAddress'> | undefined {
  if ((network.subnets.get(subnetId)?.available ?? 0) < 1) return undefined;
  const { request, ...parts } = make();
  const { id, primaryAddress } = launch(network, {
    ...parts,
    launchIndex: 0,
    type,
    tags: {},
    interfaces: [{ kind: 'new', deviceIndex: 0, cardIndex: 0, deleteOnTermination: true, request }],
  });
  return { instanceId: id, primaryAddress };
}

/** Retries while the cloud does not show a new instance yet. */
export function terminateOnceShown(network: CloudNetwork, instanceId: string, clock: VirtualClock): void {
  if (!network.instances.has(instanceId)) return;
  try {
    terminate(network, [instanceId]);
  } catch (refusal) {
    if (!(refusal instanceof CloudRefusal)) throw refusal;
    clock.schedule(1000, () => terminateOnceShown(network, instanceId, clock));
  }
}
