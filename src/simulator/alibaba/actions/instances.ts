// Describes instances and their types.
import { type InstanceType, interfacesOf } from '../../cloud/instance-types.ts';
import type { Instance } from '../../cloud/records.ts';
import type { JsonObject } from '../../workload/json.ts';
import { ecsInstanceTypes } from '../ecs-instance-types.ts';
import { numbered, ordered, pageOf, tokened } from '../paging.ts';
import { jsonTexts, oneOf, requiredText, tags, text, texts } from '../parameters.ts';
import { listedInstance } from '../rendering.ts';
import { rpcAction } from '../rpc-action.ts';
import { instanceState } from '../states.ts';
import { hasTags } from '../tags.ts';

const describeInstances = rpcAction({
  product: 'ecs',
  parameters: {
    RegionId: requiredText,
    InstanceIds: jsonTexts(100),
    InstanceName: text,
    InstanceType: text,
    VpcId: text,
    VSwitchId: text,
    ZoneId: text,
    Status: oneOf('Pending', 'Running', 'Starting', 'Stopping', 'Stopped'),
    Tag: tags,
    ...numbered(100),
    ...tokened(100),
  },
  run: (input, context) => {
    const ids = new Set(input.InstanceIds);
    const tests: ((instance: Instance) => boolean)[] = [
      ({ state }) => state !== 'terminated',
      ({ id }) => ids.size === 0 || ids.has(id),
      ({ name }) => input.InstanceName === undefined || name === input.InstanceName,
      ({ type }) => (input.InstanceType ?? type) === type,
      ({ vpcId }) => (input.VpcId ?? vpcId) === vpcId,
      ({ subnetId }) => (input.VSwitchId ?? subnetId) === subnetId,
      ({ zone }) => (input.ZoneId ?? zone) === zone,
      ({ state }) => (input.Status ?? instanceState(state)) === instanceState(state),
      (instance) => hasTags(instance.tags, input.Tag),
    ];
    const { items, about } = pageOf(input, context, {
      name: 'DescribeInstances',
      moment: context.view('instances'),
      fits: (instance) => tests.every((test) => test(instance)),
    });
    return { ...about, Instances: { Instance: items.map((each) => listedInstance(each, context)) } };
  },
});

const types = ordered([...ecsInstanceTypes.values()].map((type) => ({ ...type, id: type.name })));

/** Without a page size, one answer has all types. */
const describeTypes = rpcAction({
  product: 'ecs',
  parameters: {
    InstanceTypes: texts(10),
    InstanceTypeFamily: text,
    ...tokened(100),
  },
  run: (input, context) => {
    const names = new Set(input.InstanceTypes);
    const { items, about } = pageOf({ ...input, MaxResults: input.MaxResults ?? 100 }, context, {
      name: 'DescribeInstanceTypes',
      moment: types,
      fits: (type) =>
        (names.size === 0 || names.has(type.name)) &&
        (input.InstanceTypeFamily ?? familyOf(type)) === familyOf(type),
    });
    return { ...about, InstanceTypes: { InstanceType: items.map(shownType) } };
  },
});

function shownType(type: InstanceType): JsonObject {
  return {
    InstanceTypeId: type.name,
    InstanceTypeFamily: familyOf(type),
    CpuCoreCount: type.cpus,
    MemorySize: type.memoryMiB / 1024,
    EniQuantity: interfacesOf(type),
    EniTotalQuantity: interfacesOf(type),
    EniPrivateIpAddressQuantity: type.ipv4PerInterface,
    EniIpv6AddressQuantity: type.ipv6PerInterface,
    EniTrunkSupported: false,
  };
}

/** `ecs.g7` of `ecs.g7.large`. */
function familyOf({ name }: Pick<InstanceType, 'name'>): string {
  return name.slice(0, name.lastIndexOf('.'));
}

export const instanceActions = { DescribeInstances: describeInstances, DescribeInstanceTypes: describeTypes };
