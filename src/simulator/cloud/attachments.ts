// Attaches interfaces to instances and detaches them. Both take time.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import { refuseBeyondInterfaces, refuseOverload, typeOf } from './interface-limits.ts';
import { type Attachment, type Instance, type NetworkInterface, withAttachment } from './records.ts';

/** The slot of an interface on an instance. */
export interface AttachPlace {
  readonly deviceIndex: number;
  readonly cardIndex: number;
  readonly deleteOnTermination?: boolean;
}

export interface AttachRequest extends AttachPlace {
  readonly interfaceId: string;
  readonly instanceId: string;
  /** It falls off in the end, and the interface is free again. */
  readonly fails?: boolean;
}

/**
 * Instance states that allow an attach: hot and warm
 * (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/network-interface-attachments.html).
 */
const attachable = new Set(['running', 'stopped']);

/**
 * Starts to attach a free interface; it becomes `attached` later. Refuses if slot, zone, instance state or
 * type limits prevent it.
 */
export function attach(network: CloudNetwork, request: AttachRequest): Attachment {
  const record = network.find('interfaces', request.interfaceId);
  const instance = network.find('instances', request.instanceId);
  if (record.requesterManaged) refuse({ kind: 'managedInterface', interfaceId: record.id });
  if (record.attachment !== undefined) refuse({ kind: 'alreadyAttached', interfaceId: record.id });
  if (!attachable.has(instance.state)) {
    refuse({ kind: 'instanceState', instanceId: instance.id, state: instance.state });
  }
  refuseJoin(network, { record, instance, attached: attachedTo(network, instance) }, request);
  refuseOtherOutpost(network, record, instance);
  const attachment = newAttachment(network, instance.id, request);
  join(network, record, attachment, request.fails);
  return attachment;
}

/** Starts to detach. The primary interface cannot be detached. */
export function detach(network: CloudNetwork, attachmentId: string): void {
  const { record, attachment } = findAttachment(network, attachmentId);
  if (record.requesterManaged) refuse({ kind: 'managedAttachment' });
  if (attachment.deviceIndex === 0 && attachment.cardIndex === 0) refuse({ kind: 'primaryNotDetachable' });
  if (attachment.status === 'detaching')
    refuse({ kind: 'attachmentState', id: attachmentId, status: 'detaching' });
  network.put('interfaces', withAttachment(record, { ...attachment, status: 'detaching' }));
  network.after(network.times.detachMs, () => part(network, record.id, attachmentId));
}

/** Sets whether an interface is deleted with its instance. The attachment must be its current one. */
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

/** Everything attached to an instance, including what is attaching or detaching. */
export function attachedTo(network: CloudNetwork, instance: Instance): readonly NetworkInterface[] {
  return instance.interfaceIds.flatMap((id) => network.interfaces.get(id) ?? []);
}

/** An interface, the instance that it is to join, and what that has. */
interface Joining {
  readonly record: NetworkInterface;
  readonly instance: Instance;
  readonly attached: readonly NetworkInterface[];
}

/** Refuses an attachment that slot, zone or type limits do not allow. */
export function refuseJoin(
  network: CloudNetwork,
  { record, instance, attached }: Joining,
  { deviceIndex, cardIndex }: AttachPlace,
): void {
  const type = typeOf(network, instance);
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

/** Interfaces on an Outpost are only for instances there, and vice versa. */
function refuseOtherOutpost(network: CloudNetwork, record: NetworkInterface, instance: Instance): void {
  const primary = attachedTo(network, instance).find(({ attachment }) => attachment?.deviceIndex === 0);
  const outpostOf = (subnetId: string | undefined): string | undefined =>
    network.subnets.get(subnetId ?? '')?.outpost;
  if (outpostOf(record.subnetId) !== outpostOf(primary?.subnetId))
    refuse({ kind: 'otherOutpost', interfaceId: record.id, instanceId: instance.id });
}

/** The attachment that a request creates now. */
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

/** Writes a validated attachment into both records; later it settles, or falls off. */
export function join(
  network: CloudNetwork,
  record: NetworkInterface,
  attachment: Attachment,
  fails = false,
): void {
  const instance = network.instances.get(attachment.instanceId);
  if (instance === undefined) throw new Error(`no instance ${attachment.instanceId} to attach to`);
  network.put('interfaces', withAttachment(record, attachment));
  network.put('instances', { ...instance, interfaceIds: [...instance.interfaceIds, record.id] });
  const end = fails ? part : settle;
  network.after(network.times.attachMs, () => end(network, record.id, attachment.id));
}

/** Removes the interface from the instance. */
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
