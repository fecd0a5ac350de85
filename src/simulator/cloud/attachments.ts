// Interfaces are attached to instances and detached from them; both take a while.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { refuseBeyondInterfaces, refuseOverload, typeOf } from './interface-limits.ts';
import { type Attachment, type Instance, type NetworkInterface, withAttachment } from './records.ts';

/** Where an interface goes on an instance. */
export interface AttachPlace {
  readonly deviceIndex: number;
  readonly cardIndex: number;
  readonly deleteOnTermination?: boolean;
}

export interface AttachRequest extends AttachPlace {
  readonly interfaceId: string;
  readonly instanceId: string;
}

/**
 * States in which an instance takes an interface: hot and warm
 * (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/network-interface-attachments.html).
 */
const attachable = new Set(['running', 'stopped']);

/**
 * Begins to attach an interface that is free; it is `attached` after a while. Refused where the place, the zone, the
 * instance's state or the limits of its type speak against it.
 */
export function attach(network: CloudNetwork, request: AttachRequest): Attachment {
  const record = network.find('interfaces', request.interfaceId);
  const instance = network.find('instances', request.instanceId);
  if (record.requesterManaged) refuse({ kind: 'managedInterface', interfaceId: record.id });
  if (record.attachment !== undefined) refuse({ kind: 'alreadyAttached', interfaceId: record.id });
  if (!attachable.has(instance.state)) {
    refuse({ kind: 'instanceState', instanceId: instance.id, state: instance.state });
  }
  refuseJoin(record, instance, attachedTo(network, instance), request);
  const attachment = newAttachment(network, instance.id, request);
  join(network, record, attachment);
  return attachment;
}

/** Begins to detach. The primary interface stays. */
export function detach(network: CloudNetwork, attachmentId: string): void {
  const { record, attachment } = findAttachment(network, attachmentId);
  if (record.requesterManaged) refuse({ kind: 'managedAttachment' });
  if (attachment.deviceIndex === 0 && attachment.cardIndex === 0) refuse({ kind: 'primaryNotDetachable' });
  if (attachment.status === 'detaching')
    refuse({ kind: 'attachmentState', id: attachmentId, status: 'detaching' });
  network.put('interfaces', withAttachment(record, { ...attachment, status: 'detaching' }));
  network.after(network.times.detachMs, () => part(network, record.id, attachmentId));
}

/** Says whether an interface goes with its instance. The attachment has to be its present one. */
export function setDeleteOnTermination(
  network: CloudNetwork,
  interfaceId: string,
  attachmentId: string,
  deleteOnTermination: boolean,
): void {
  const record = network.find('interfaces', interfaceId);
  const { attachment } = record;
  if (attachment?.id !== attachmentId) return refuse({ kind: 'attachmentNotFound', id: attachmentId });
  if (record.requesterManaged) refuse({ kind: 'managedInterface', interfaceId });
  network.put('interfaces', withAttachment(record, { ...attachment, deleteOnTermination }));
}

/** Everything attached to an instance, attaching and detaching included. */
export function attachedTo(network: CloudNetwork, instance: Instance): readonly NetworkInterface[] {
  return instance.interfaceIds.flatMap((id) => network.interfaces.get(id) ?? []);
}

/** Refuses an attachment that the place, the zone or the limits of the instance's type do not allow. */
export function refuseJoin(
  record: NetworkInterface,
  instance: Instance,
  attached: readonly NetworkInterface[],
  { deviceIndex, cardIndex }: AttachPlace,
): void {
  const type = typeOf(instance);
  if (record.zone !== instance.zone) {
    refuse({ kind: 'otherZone', interfaceId: record.id, instanceId: instance.id });
  }
  const taken = attached.some(
    ({ attachment }) => attachment?.deviceIndex === deviceIndex && attachment.cardIndex === cardIndex,
  );
  if (taken) refuse({ kind: 'indexTaken', instanceId: instance.id, deviceIndex });
  if (record.type.startsWith('efa') && type.efaInterfaces === 0) {
    refuse({ kind: 'efaUnsupported', type: type.name });
  }
  refuseBeyondInterfaces(type, attached, cardIndex);
  refuseOverload(type, record);
}

/** The attachment that a request makes, from this moment on. */
export function newAttachment(
  network: CloudNetwork,
  instanceId: string,
  { deviceIndex, cardIndex, deleteOnTermination = false }: AttachPlace,
): Attachment {
  return {
    id: network.newId('eni-attach'),
    instanceId,
    deviceIndex,
    cardIndex,
    status: 'attaching',
    attachTime: network.clock.wall(),
    deleteOnTermination,
  };
}

/** Writes an attachment that nothing speaks against into both records; it settles after a while. */
export function join(network: CloudNetwork, record: NetworkInterface, attachment: Attachment): void {
  const instance = network.instances.get(attachment.instanceId);
  if (instance === undefined) throw new Error(`no instance ${attachment.instanceId} to attach to`);
  network.put('interfaces', withAttachment(record, attachment));
  network.put('instances', { ...instance, interfaceIds: [...instance.interfaceIds, record.id] });
  network.after(network.times.attachMs, () => settle(network, record.id, attachment.id));
}

/** The interface is the instance's no more. */
export function part(network: CloudNetwork, interfaceId: string, attachmentId: string): void {
  const record = network.interfaces.get(interfaceId);
  if (record?.attachment?.id !== attachmentId) return;
  const instance = network.instances.get(record.attachment.instanceId);
  network.put('interfaces', withAttachment(record, undefined));
  if (instance === undefined) return;
  const interfaceIds = instance.interfaceIds.filter((id) => id !== interfaceId);
  network.put('instances', { ...instance, interfaceIds });
}

function settle(network: CloudNetwork, interfaceId: string, attachmentId: string): void {
  const record = network.interfaces.get(interfaceId);
  const { attachment } = record ?? {};
  if (record === undefined || attachment?.id !== attachmentId || attachment.status !== 'attaching') return;
  network.put('interfaces', withAttachment(record, { ...attachment, status: 'attached' }));
}

function findAttachment(
  network: CloudNetwork,
  id: string,
): { readonly record: NetworkInterface; readonly attachment: Attachment } {
  for (const record of network.interfaces.values()) {
    if (record.attachment?.id === id) return { record, attachment: record.attachment };
  }
  return refuse({ kind: 'attachmentNotFound', id });
}
