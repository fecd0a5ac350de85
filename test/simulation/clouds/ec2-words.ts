// Calls of Alibaba Cloud in the words of EC2, which faults and invariants know.
import {
  type Json,
  type JsonObject,
  listAt,
  objectAt,
  textAt,
} from '../../../src/simulator/workload/json.ts';

/** Fields without a counterpart in EC2 keep their names. */
export function inWordsOfEc2(input: object): JsonObject {
  const { networkInterfaceId: id, instanceId, privateIpAddress, tag, ...rest } = input as JsonObject;
  return {
    ...rest,
    // A read may name many.
    ...(typeof id === 'string' ? { NetworkInterfaceId: id } : id !== undefined && { networkInterfaceId: id }),
    ...(instanceId !== undefined && { InstanceId: instanceId }),
    ...(privateIpAddress !== undefined && { PrivateIpAddresses: privateIpAddress }),
    ...(tag !== undefined && { Tag: tag }),
  };
}

/** Only what invariants read. */
export function outputInWordsOfEc2(output: object): JsonObject {
  const answer = output as JsonObject;
  const created = textAt(answer, 'networkInterfaceId');
  const assigned = objectAt(answer, 'assignedPrivateIpAddressesSet', 'privateIpSet');
  const read = listAt(objectAt(answer, 'networkInterfaceSets'), 'networkInterfaceSet');
  return {
    ...(read.length > 0 && { NetworkInterfaces: read.map(interfaceInWordsOfEc2) }),
    ...(created !== '' && { NetworkInterface: { NetworkInterfaceId: created } }),
    AssignedPrivateIpAddresses: listAt(assigned, 'privateIpAddress').map((address) => ({
      PrivateIpAddress: address,
    })),
  };
}

function interfaceInWordsOfEc2(item: Json): JsonObject {
  const Status = textAt(item, 'status') === 'InUse' ? 'in-use' : textAt(item, 'status');
  return { NetworkInterfaceId: textAt(item, 'networkInterfaceId'), Status };
}

export function resultInWordsOfEc2(result: string): string {
  return result === 'InvalidEniId.NotFound' ? 'InvalidNetworkInterfaceID.NotFound' : result;
}
