// Headwater's own tags on the interfaces that it creates, and how their description begins. They outlive the process;
// the tags identify the instance and the creation that an orphaned interface belongs to.
import type { Tags } from '../contract/network-interface.ts';

/** Key for the id of the instance that the interface was created for. */
export const instanceTag = 'headwater/instance-id';

/** Key for the id of the creation: the client token of the request. */
export const operationTag = 'headwater/operation-id';

/** Prefix of the description of interfaces that we create; the instance id follows. */
export const descriptionPrefix = 'Cilium-CNI (';

export function ownershipTags(instanceId: string, operationId: string): Tags {
  return { [instanceTag]: instanceId, [operationTag]: operationId };
}
