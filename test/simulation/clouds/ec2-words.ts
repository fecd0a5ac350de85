// Calls of Alibaba Cloud in the words of EC2, which faults and invariants know.
import { type JsonObject, listAt, objectAt, textAt } from '../../../src/simulator/workload/json.ts';

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
  return {
    ...(created !== '' && { NetworkInterface: { NetworkInterfaceId: created } }),
    AssignedPrivateIpAddresses: listAt(assigned, 'privateIpAddress').map((address) => ({
      PrivateIpAddress: address,
    })),
  };
}

export function resultInWordsOfEc2(result: string): string {
  return result === 'InvalidEniId.NotFound' ? 'InvalidNetworkInterfaceID.NotFound' : result;
}
