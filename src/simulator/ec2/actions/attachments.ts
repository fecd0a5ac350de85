// Attaches interfaces to instances and detaches them.
import { attach, detach } from '../../cloud/attachments.ts';
import { type Action, action } from '../action.ts';
import { invalidParameterValue } from '../ec2-refusal.ts';
import { flag, idOf, integer, record, required, text } from '../shape.ts';

const attachNetworkInterface = action({
  input: record({
    NetworkInterfaceId: required(idOf('interfaces')),
    InstanceId: required(idOf('instances')),
    DeviceIndex: required(integer),
    NetworkCardIndex: integer,
  }),
  output: record({ AttachmentId: text, NetworkCardIndex: integer }),
  run: ({ NetworkInterfaceId, InstanceId, DeviceIndex, NetworkCardIndex = 0 }, { network }) => {
    if (DeviceIndex < 0) {
      throw invalidParameterValue(`Value (${DeviceIndex}) for parameter deviceIndex is invalid.`);
    }
    const attachment = attach(network, {
      interfaceId: NetworkInterfaceId,
      instanceId: InstanceId,
      deviceIndex: DeviceIndex,
      cardIndex: NetworkCardIndex,
    });
    return { AttachmentId: attachment.id, NetworkCardIndex };
  },
});

const detachNetworkInterface = action({
  input: record({ AttachmentId: required(idOf('attachment')), Force: flag }),
  output: record({}),
  run: ({ AttachmentId }, { network }) => {
    detach(network, AttachmentId);
    return {};
  },
});

export const attachmentActions: Readonly<Record<string, Action>> = {
  AttachNetworkInterface: attachNetworkInterface,
  DetachNetworkInterface: detachNetworkInterface,
};
