// Attaches network interfaces to instances and detaches them. Both take time.
import { attach, attachedTo, detach } from '../../cloud/attachments.ts';
import type { CloudNetwork } from '../../cloud/cloud-network.ts';
import type { Instance } from '../../cloud/records.ts';
import { integer, requiredText } from '../parameters.ts';
import { rpcAction } from '../rpc-action.ts';
import { RpcRefusal } from '../rpc-refusal.ts';
import { isPrimary, refuseUnless } from '../states.ts';

const attachInterface = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    InstanceId: requiredText,
    NetworkInterfaceId: requiredText,
    NetworkCardIndex: integer(0, 0),
  },
  run: (input, { network, failure }) => {
    const record = network.find('interfaces', input.NetworkInterfaceId);
    const instance = network.find('instances', input.InstanceId);
    refuseUnless(record, 'Available');
    if (record.vpcId !== instance.vpcId) {
      throw new RpcRefusal(
        'InvalidOperation.VpcMismatch',
        'The specified network interface and the specified instance are not in one VPC.',
        403,
      );
    }
    attach(network, {
      interfaceId: record.id,
      instanceId: instance.id,
      deviceIndex: freeIndexOf(network, instance),
      cardIndex: 0,
      deleteOnTermination: record.life?.deleteOnRelease ?? true,
      fails: failure !== undefined,
    });
    return {};
  },
});

const detachInterface = rpcAction({
  product: 'ecs',
  parameters: { RegionId: requiredText, InstanceId: requiredText, NetworkInterfaceId: requiredText },
  run: (input, { network }) => {
    const record = network.find('interfaces', input.NetworkInterfaceId);
    network.find('instances', input.InstanceId);
    const { attachment } = record;
    refuseUnless(record, 'InUse');
    if (attachment?.instanceId !== input.InstanceId) {
      throw new RpcRefusal(
        'InvalidOperation.EniNotAttached',
        'The specified network interface is not attached to the specified instance.',
      );
    }
    if (isPrimary(record)) {
      throw new RpcRefusal(
        'InvalidOperation.DetachPrimaryEniNotAllowed',
        'The primary network interface can not be detached.',
      );
    }
    detach(network, attachment.id);
    return {};
  },
});

/** ECS chooses the index itself. */
function freeIndexOf(network: CloudNetwork, instance: Instance): number {
  const taken = new Set(attachedTo(network, instance).map(({ deviceIndex }) => deviceIndex));
  let index = 1;
  while (taken.has(index)) index += 1;
  return index;
}

export const attachmentActions = {
  AttachNetworkInterface: attachInterface,
  DetachNetworkInterface: detachInterface,
};
