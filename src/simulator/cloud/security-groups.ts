// Security groups, limited to which interfaces belong to them.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import type { SecurityGroup } from './records.ts';
import { refuseTags } from './tags.ts';

export type GroupRequest = Omit<SecurityGroup, 'id'> & { readonly id?: string | undefined };

/** Creates a group in a VPC if its name is free. */
export function createGroup(network: CloudNetwork, request: GroupRequest): SecurityGroup {
  network.find('vpcs', request.vpcId);
  refuseTags({}, request.tags);
  if (request.name === 'default') refuse({ kind: 'groupReserved', name: request.name });
  const duplicate = [...network.all('groups').values()].some(
    (group) => group.vpcId === request.vpcId && group.name === request.name,
  );
  if (duplicate) refuse({ kind: 'groupDuplicate', name: request.name, vpcId: request.vpcId });
  return putGroup(network, request);
}

/** Deletes a group that no interface uses and that is not the default one. */
export function deleteGroup(network: CloudNetwork, id: string): void {
  const group = network.find('groups', id);
  if (group.name === 'default') refuse({ kind: 'defaultGroup' });
  if ([...network.interfaces.values()].some((record) => record.groupIds.includes(id))) {
    refuse({ kind: 'dependency', what: 'groups', id });
  }
  network.delete('groups', id);
}

/** Adds a group with any name. */
export function putGroup(network: CloudNetwork, { id, ...rest }: GroupRequest): SecurityGroup {
  const group: SecurityGroup = { id: id ?? network.newId('sg'), ...rest };
  network.put('groups', group);
  return group;
}
