// Applies omissions to the answers of clouds: lists of interfaces lack some, or some of their addresses.
import type { Ec2NetworkInterface, Ec2Output } from '../../src/providers/aws/ec2-api.ts';
import { keyOf } from '../../src/simulator/arm/resource-path.ts';
import {
  type Json,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from '../../src/simulator/workload/json.ts';
import type { IncompleteReads, ListedInterface } from './incomplete-reads.ts';
import { membersOf } from './invariants/assignments.ts';

/** The answer as it reaches the process. A read of one model on Azure is complete: its PUT would drop what it lacks. */
export function withoutOmitted(
  reads: IncompleteReads,
  { identity, action }: { readonly identity: string; readonly action: string },
  output: object,
): object {
  const { NetworkInterfaces: all, body } = output as Answer;
  if (action === 'DescribeNetworkInterfaces' && all !== undefined)
    return { ...output, NetworkInterfaces: reads.shown(identity, all, onEc2) };
  if (!action.startsWith('Interfaces.List') || !isObject(body) || !Array.isArray(body['value']))
    return output;
  return { ...output, body: { ...body, value: reads.shown(identity, listAt(body, 'value'), onAzure) } };
}

interface Answer extends Partial<Ec2Output<'DescribeNetworkInterfaces'>> {
  readonly body?: Json;
}

function onEc2(item: Ec2NetworkInterface): ListedInterface<Ec2NetworkInterface> {
  const { NetworkInterfaceId: id = '', Attachment, PrivateIpAddresses = [], Ipv4Prefixes = [] } = item;
  return {
    id,
    instanceId: Attachment?.InstanceId ?? '',
    addresses: [
      ...PrivateIpAddresses.flatMap(({ PrivateIpAddress: address }) => address ?? []),
      ...Ipv4Prefixes.flatMap(({ Ipv4Prefix: prefix }) => (prefix === undefined ? [] : membersOf(prefix))),
    ],
    withOnly: (isShown) => ({
      ...item,
      PrivateIpAddresses: PrivateIpAddresses.filter(
        ({ PrivateIpAddress: address = '', Primary }) => Primary === true || isShown(address),
      ),
      Ipv4Prefixes: [],
    }),
  };
}

function onAzure(item: Json): ListedInterface<Json> {
  const properties = objectAt(item, 'properties');
  const configurations = listAt(properties, 'ipConfigurations');
  return {
    id: keyOf(textAt(item, 'id')),
    instanceId: keyOf(textAt(properties, 'virtualMachine', 'id')),
    addresses: configurations.map(addressIn),
    withOnly: (isShown) => {
      const shown = configurations.filter(
        (each) => objectAt(each, 'properties')['primary'] === true || isShown(addressIn(each)),
      );
      const changed: JsonObject = { ...properties, ipConfigurations: shown };
      return { ...objectAt(item), properties: changed };
    },
  };
}

function addressIn(configuration: Json): string {
  return textAt(configuration, 'properties', 'privateIPAddress');
}
