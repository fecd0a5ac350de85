// The states of interfaces and instances as ECS names them, and the actions that each allows.
import type { CloudNetwork } from '../cloud/cloud-network.ts';
import type { InstanceState, InterfaceLife, NetworkInterface } from '../cloud/records.ts';
import { invalidState } from './rpc-refusal.ts';

export type InterfaceStatus = 'Creating' | 'Available' | 'Attaching' | 'InUse' | 'Detaching' | 'Deleting';

const attachmentStates = { attaching: 'Attaching', attached: 'InUse', detaching: 'Detaching' } as const;

export function interfaceStatus({ life, attachment }: NetworkInterface): InterfaceStatus {
  if (life?.phase === 'creating') return 'Creating';
  if (life?.phase === 'deleting') return 'Deleting';
  return attachment === undefined ? 'Available' : attachmentStates[attachment.status];
}

/** The life of a new interface that has no name and can be attached at once. */
export function readyLife({ clock }: CloudNetwork): InterfaceLife {
  return { phase: 'ready', name: '', createTime: clock.wall(), deleteOnRelease: true };
}

/** Refuses an interface in any other state. */
export function refuseUnless(record: NetworkInterface, ...accepted: readonly InterfaceStatus[]): void {
  const status = interfaceStatus(record);
  if (!accepted.includes(status)) throw invalidState(status);
}

/** Whether an instance was made with it. */
export function isPrimary({ attachment }: Pick<NetworkInterface, 'attachment'>): boolean {
  return attachment?.deviceIndex === 0;
}

const instanceStates: Readonly<Record<InstanceState, string>> = {
  pending: 'Starting',
  running: 'Running',
  stopping: 'Stopping',
  stopped: 'Stopped',
  'shutting-down': 'Stopping',
  terminated: 'Stopped',
};

export function instanceState(state: InstanceState): string {
  return instanceStates[state];
}
