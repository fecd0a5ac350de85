// Route tables, limited to which subnets share one.
import type { CloudNetwork } from './cloud-network.ts';
import { refuse } from './cloud-refusal.ts';
import type { RouteTable, Tags } from './records.ts';
import { refuseTags } from './tags.ts';

/** Creates an empty table in a VPC. */
export function createRouteTable(
  network: CloudNetwork,
  request: { readonly id?: string | undefined; readonly vpcId: string; readonly tags: Tags },
): RouteTable {
  const vpc = network.find('vpcs', request.vpcId);
  refuseTags({}, request.tags);
  const id = request.id ?? network.newId('rtb');
  const table: RouteTable = { id, vpcId: vpc.id, associations: [], tags: request.tags };
  network.put('routeTables', table);
  return table;
}

/** Deletes a table that no subnet uses. */
export function deleteRouteTable(network: CloudNetwork, id: string): void {
  const table = network.find('routeTables', id);
  if (table.associations.length > 0) refuse({ kind: 'dependency', what: 'routeTables', id });
  network.delete('routeTables', id);
}

/** Associates a subnet with a table; returns the id of the association. */
export function associateRouteTable(network: CloudNetwork, tableId: string, subnetId: string): string {
  const table = network.find('routeTables', tableId);
  network.find('subnets', subnetId);
  const held = [...network.all('routeTables').values()].some((other) =>
    other.associations.some((association) => association.subnetId === subnetId),
  );
  if (held) refuse({ kind: 'tableAssociated', subnetId });
  const id = network.newId('rtbassoc');
  network.put('routeTables', { ...table, associations: [...table.associations, { id, subnetId }] });
  return id;
}

/** Ends an association; that of a main table stays. */
export function disassociateRouteTable(network: CloudNetwork, id: string): void {
  for (const table of network.all('routeTables').values()) {
    const association = table.associations.find((candidate) => candidate.id === id);
    if (association === undefined) continue;
    if (association.subnetId === undefined) refuse({ kind: 'mainTable', id });
    const associations = table.associations.filter((candidate) => candidate.id !== id);
    return network.put('routeTables', { ...table, associations });
  }
  return refuse({ kind: 'associationNotFound', id });
}
