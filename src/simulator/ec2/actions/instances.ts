// Describes instances and changes their state.
import { start, type StateChange, stop, terminate } from '../../cloud/instances.ts';
import type { Instance, NetworkInterface } from '../../cloud/records.ts';
import type { CloudNetwork, NetworkView } from '../../cloud/cloud-network.ts';
import { type Action, action } from '../action.ts';
import { invalidParameterCombination } from '../ec2-refusal.ts';
import type { FilterTable } from '../filters.ts';
import { type Listing, listRecords, listRequest, pageFields } from '../listing.ts';
import { zoneIdOf } from '../names.ts';
import { as, flag, idOf, list, record, text } from '../shape.ts';
import { instanceState, reservationShape, reservationsOf, stateOut } from './instance-answers.ts';

/** The subject of a filter on an instance's interfaces. */
function ofInterfaces(
  subject: (record: NetworkInterface) => readonly string[],
): (instance: Instance, view: NetworkView) => readonly string[] {
  return (instance, view) =>
    instance.interfaceIds.flatMap((id) => {
      const found = view('interfaces').get(id);
      return found === undefined ? [] : subject(found);
    });
}

const filters: FilterTable<Instance> = {
  'availability-zone': ({ zone }) => zone,
  'availability-zone-id': ({ zone }) => zoneIdOf(zone),
  'client-token': ({ clientToken }) => clientToken,
  'image-id': ({ imageId }) => imageId,
  'instance-id': ({ id }) => id,
  'instance-state-code': ({ state }) => stateOut(state).Code,
  'instance-state-name': ({ state }) => state,
  'instance-type': ({ type }) => type,
  'instance.group-id': ofInterfaces(({ groupIds }) => groupIds),
  'network-interface.addresses.private-ip-address': ofInterfaces(({ addresses }) => addresses),
  'network-interface.attachment.attachment-id': ofInterfaces(({ attachment }) =>
    attachment ? [attachment.id] : [],
  ),
  'network-interface.availability-zone': ofInterfaces(({ zone }) => [zone]),
  'network-interface.network-interface-id': ({ interfaceIds }) => interfaceIds,
  'network-interface.subnet-id': ofInterfaces(({ subnetId }) => [subnetId]),
  'network-interface.vpc-id': ofInterfaces(({ vpcId }) => [vpcId]),
  'private-ip-address': ({ primaryAddress }) => primaryAddress,
  'reservation-id': ({ reservationId }) => reservationId,
  'subnet-id': ({ subnetId }) => subnetId,
  'vpc-id': ({ vpcId }) => vpcId,
};

const listing: Listing<'instances'> = {
  action: 'DescribeInstances',
  kind: 'instances',
  idParameter: 'instancesSet',
  filters,
  narrowing: ['instance-id', 'subnet-id', 'vpc-id'],
  index: { 'instance-id': (id) => [id] },
};

const instanceIds = as('InstanceId', list(idOf('instances')));

const describeInstances = action({
  input: record({ ...pageFields, InstanceIds: instanceIds, IncludeManagedResources: flag }),
  output: record({ Reservations: as('reservationSet', list(reservationShape)), NextToken: text }),
  run: (input, context) => {
    const page = listRecords(listing, listRequest(input.InstanceIds, input), context);
    return { Reservations: reservationsOf(page.records, context), NextToken: page.nextToken };
  },
});

const summary = record({ Status: text, Details: list(record({ Name: text, Status: text })) });

const describeInstanceStatus = action({
  input: record({
    ...pageFields,
    InstanceIds: instanceIds,
    IncludeAllInstances: flag,
    IncludeManagedResources: flag,
  }),
  output: record({
    InstanceStatuses: as(
      'instanceStatusSet',
      list(
        record({
          AvailabilityZone: text,
          AvailabilityZoneId: text,
          InstanceId: text,
          InstanceState: instanceState,
          InstanceStatus: summary,
          SystemStatus: summary,
        }),
      ),
    ),
    NextToken: text,
  }),
  run: (input, context) => {
    const running = { Name: 'instance-state-name', Values: ['running'] };
    const chosen = input.IncludeAllInstances === true ? [] : [running];
    const request = listRequest(input.InstanceIds, {
      ...input,
      Filters: [...(input.Filters ?? []), ...chosen],
    });
    const page = listRecords({ ...listing, action: 'DescribeInstanceStatus' }, request, context);
    return { InstanceStatuses: page.records.map(statusOut), NextToken: page.nextToken };
  },
});

function statusOut(instance: Instance) {
  const status = instance.state === 'running' ? 'ok' : 'not-applicable';
  const checks = {
    Status: status,
    Details: status === 'ok' ? [{ Name: 'reachability', Status: 'passed' }] : [],
  };
  return {
    AvailabilityZone: instance.zone,
    AvailabilityZoneId: zoneIdOf(instance.zone),
    InstanceId: instance.id,
    InstanceState: stateOut(instance.state),
    InstanceStatus: checks,
    SystemStatus: checks,
  };
}

const changes = as(
  'instancesSet',
  list(record({ InstanceId: text, CurrentState: instanceState, PreviousState: instanceState })),
);

function changesOut(
  network: CloudNetwork,
  ids: readonly string[] | undefined,
  change: (network: CloudNetwork, ids: readonly string[]) => readonly StateChange[],
) {
  if (ids === undefined || ids.length === 0) throw invalidParameterCombination('No instances specified');
  return change(network, [...new Set(ids)]).map(({ id, before, after }) => ({
    InstanceId: id,
    CurrentState: stateOut(after),
    PreviousState: stateOut(before),
  }));
}

const terminateInstances = action({
  input: record({ InstanceIds: instanceIds }),
  output: record({ TerminatingInstances: changes }),
  run: ({ InstanceIds }, { network }) => ({
    TerminatingInstances: changesOut(network, InstanceIds, terminate),
  }),
});

const stopInstances = action({
  input: record({ InstanceIds: instanceIds, Force: flag }),
  output: record({ StoppingInstances: changes }),
  run: ({ InstanceIds }, { network }) => ({ StoppingInstances: changesOut(network, InstanceIds, stop) }),
});

const startInstances = action({
  input: record({ InstanceIds: instanceIds }),
  output: record({ StartingInstances: changes }),
  run: ({ InstanceIds }, { network }) => ({ StartingInstances: changesOut(network, InstanceIds, start) }),
});

export const instanceActions: Readonly<Record<string, Action>> = {
  DescribeInstances: describeInstances,
  DescribeInstanceStatus: describeInstanceStatus,
  TerminateInstances: terminateInstances,
  StopInstances: stopInstances,
  StartInstances: startInstances,
};
