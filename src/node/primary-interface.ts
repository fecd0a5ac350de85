// The interface that an instance has for as long as it exists.
import type { InstanceView } from '../providers/instance-view.ts';
import type { NetworkInterface } from '../providers/network-interface.ts';

/** Undefined as long as it is not known. */
export function primaryInterface({ interfaces }: InstanceView): NetworkInterface | undefined {
  return interfaces.find(({ attachment }) => attachment?.deviceIndex === 0 && attachment.networkCard === 0);
}
