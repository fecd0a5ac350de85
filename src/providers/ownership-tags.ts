// Tags of Headwater's own on the interfaces that it creates. They outlive the process: whoever finds such an interface
// attached to nothing can tell which instance it was made for, and by which creation.
import type { Tags } from './network-interface.ts';

/** Key of the id of the instance that the interface was made for. */
export const instanceTag = 'headwater/instance-id';

/** Key of the id of the creation: the client token of the request. */
export const operationTag = 'headwater/operation-id';

export function ownershipTags(instanceId: string, operationId: string): Tags {
  return { [instanceTag]: instanceId, [operationTag]: operationId };
}
