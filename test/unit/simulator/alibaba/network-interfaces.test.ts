import { describe, expect, test } from '@jest/globals';
import { terminate } from '../../../../src/simulator/cloud/instances.ts';
import { listAt, objectAt, textAt } from '../../../../src/simulator/workload/json.ts';
import { addressesOf, alibabaRig, interfacesOf } from './alibaba-rig.ts';

describe('an interface of ECS', () => {
  test('passes through its states over time', async () => {
    const { ask, statusOf, time, codeOf } = alibabaRig();
    const answer = await ask('CreateNetworkInterface', {
      VSwitchId: 'vsw-a',
      SecurityGroupId: 'sg-pods',
      SecondaryPrivateIpAddressCount: 9,
    });
    const NetworkInterfaceId = textAt(answer, 'NetworkInterfaceId');
    const both = { InstanceId: 'i-1', NetworkInterfaceId };
    const states = [await statusOf(NetworkInterfaceId)];
    expect(await codeOf('AttachNetworkInterface', both)).toBe('InvalidOperation.InvalidEniState');
    await time.advance(500);
    states.push(await statusOf(NetworkInterfaceId));
    // An instance of this type carries six addresses of an interface.
    expect(await codeOf('AttachNetworkInterface', both)).toBe('InvalidOperation.Ipv4CountExceeded');
    await ask('UnassignPrivateIpAddresses', {
      NetworkInterfaceId,
      ...Object.fromEntries(
        addressesOf(answer)
          .slice(6)
          .map((address, index) => [`PrivateIpAddress.${index + 1}`, address]),
      ),
    });
    await ask('AttachNetworkInterface', both);
    states.push(await statusOf(NetworkInterfaceId));
    expect(
      await codeOf('AssignPrivateIpAddresses', { NetworkInterfaceId, SecondaryPrivateIpAddressCount: 1 }),
    ).toBe('InvalidOperation.InvalidEniState');
    await time.advance(3000);
    states.push(await statusOf(NetworkInterfaceId));
    expect(await codeOf('DeleteNetworkInterface', { NetworkInterfaceId })).toBe(
      'InvalidOperation.InvalidEniState',
    );
    await ask('DetachNetworkInterface', both);
    states.push(await statusOf(NetworkInterfaceId));
    await time.advance(2000);
    states.push(await statusOf(NetworkInterfaceId));
    await ask('DeleteNetworkInterface', { NetworkInterfaceId });
    states.push(await statusOf(NetworkInterfaceId));
    await time.advance(1000);
    states.push(await statusOf(NetworkInterfaceId));
    expect(states).toEqual([
      'Creating',
      'Available',
      'Attaching',
      'InUse',
      'Detaching',
      'Available',
      'Deleting',
      'none',
    ]);
  });

  test('is found by its id, VPC, instance, tags and status', async () => {
    const { ask, made, time } = alibabaRig();
    const id = await made({ 'Tag.1.Key': 'owner', 'Tag.1.Value': 'pods' });
    await ask('AttachNetworkInterface', { InstanceId: 'i-1', NetworkInterfaceId: id });
    await time.advance(3000);
    const idsBy = async (given: Readonly<Record<string, string>>): Promise<readonly string[]> =>
      (await interfacesOf(ask, given)).map((each) => textAt(each, 'NetworkInterfaceId'));
    expect(await idsBy({ 'NetworkInterfaceId.1': id })).toEqual([id]);
    expect(await idsBy({ 'NetworkInterfaceId.1': 'eni-unknown' })).toEqual([]);
    expect(await idsBy({ VpcId: 'vpc-main' })).toHaveLength(3);
    expect(await idsBy({ VpcId: 'vpc-other' })).toEqual([]);
    expect(await idsBy({ InstanceId: 'i-1' })).toHaveLength(2);
    expect(await idsBy({ InstanceId: 'i-1', Type: 'Secondary' })).toEqual([id]);
    expect(await idsBy({ 'Tag.1.Key': 'owner' })).toEqual([id]);
    expect(await idsBy({ 'Tag.1.Key': 'owner', 'Tag.1.Value': 'others' })).toEqual([]);
    expect(await idsBy({ Status: 'Available' })).toEqual([]);
  });

  test('is listed page by page, with a token that fits only its listing', async () => {
    const { ask, codeOf, made } = alibabaRig();
    for (let count = 0; count < 5; count++) await made();
    const first = await ask('DescribeNetworkInterfaces', { MaxResults: 4 });
    const NextToken = textAt(first, 'NextToken');
    const second = await ask('DescribeNetworkInterfaces', { MaxResults: 4, NextToken });
    const ids = [first, second].flatMap((page) =>
      listAt(page, 'NetworkInterfaceSets', 'NetworkInterfaceSet').map((each) =>
        textAt(each, 'NetworkInterfaceId'),
      ),
    );
    expect(new Set(ids).size).toBe(7);
    expect(textAt(second, 'NextToken')).toBe('');
    expect(await codeOf('DescribeNetworkInterfaces', { MaxResults: 4, NextToken, VpcId: 'vpc-main' })).toBe(
      'InvalidNextToken',
    );
    expect(await codeOf('DescribeNetworkInterfaces', { MaxResults: 501 })).toBe('InvalidMaxResults');
    expect(await codeOf('DescribeNetworkInterfaces', { PageSize: 101 })).toBe('InvalidPageSize');
  });

  test('goes with its instance only if it is to be deleted with it', async () => {
    const { ask, made, network, statusOf, time } = alibabaRig();
    const [kept, changed] = [await made({ DeleteOnRelease: false }), await made({ DeleteOnRelease: false })];
    for (const NetworkInterfaceId of [kept, changed]) {
      await ask('AttachNetworkInterface', { InstanceId: 'i-1', NetworkInterfaceId });
    }
    await ask('ModifyNetworkInterfaceAttribute', { NetworkInterfaceId: changed, DeleteOnRelease: true });
    await time.advance(3000);
    terminate(network, ['i-1']);
    await time.advance(20_000);
    expect([await statusOf(kept), await statusOf(changed)]).toEqual(['Available', 'none']);
    const answer = await ask('DescribeInstances', { InstanceIds: '["i-1"]' });
    expect(listAt(answer, 'Instances', 'Instance')).toEqual([]);
  });
});

describe('the addresses of an interface of ECS', () => {
  test('come from its vSwitch, without the first and the last three', async () => {
    const { ask, codeOf, made } = alibabaRig();
    const id = await made({ VSwitchId: 'vsw-tiny', SecondaryPrivateIpAddressCount: 11 });
    const [record] = await interfacesOf(ask, { 'NetworkInterfaceId.1': id });
    const last = addressesOf(record ?? {}).map((address) => Number(address.split('.')[3]));
    expect(last.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(
      await codeOf('AssignPrivateIpAddresses', { NetworkInterfaceId: id, SecondaryPrivateIpAddressCount: 1 }),
    ).toBe('InvalidVSwitchId.IpNotEnough');
    const answer = await ask('DescribeVSwitches', { VSwitchId: 'vsw-tiny' });
    expect(
      listAt(answer, 'VSwitches', 'VSwitch').map((each) => objectAt(each)['AvailableIpAddressCount']),
    ).toEqual([0]);
  });

  test('are assigned once for one client token', async () => {
    const { ask, codeOf, made } = alibabaRig();
    const request = {
      NetworkInterfaceId: await made(),
      SecondaryPrivateIpAddressCount: 2,
      ClientToken: 'once',
    };
    const first = await ask('AssignPrivateIpAddresses', request);
    expect(await ask('AssignPrivateIpAddresses', request)).toEqual(first);
    expect(await codeOf('AssignPrivateIpAddresses', { ...request, SecondaryPrivateIpAddressCount: 3 })).toBe(
      'IdempotentParameterMismatch',
    );
    const [record] = await interfacesOf(ask, { 'NetworkInterfaceId.1': request.NetworkInterfaceId });
    expect(addressesOf(record ?? {})).toHaveLength(3);
  });

  test('are unassigned, but for the primary one', async () => {
    const { ask, codeOf, made } = alibabaRig();
    const NetworkInterfaceId = await made({ SecondaryPrivateIpAddressCount: 1 });
    const [record] = await interfacesOf(ask, { 'NetworkInterfaceId.1': NetworkInterfaceId });
    const [primary = '', secondary = ''] = addressesOf(record ?? {});
    const unassign = (address: string): Promise<string> =>
      codeOf('UnassignPrivateIpAddresses', { NetworkInterfaceId, 'PrivateIpAddress.1': address });
    expect(await unassign(primary)).toBe('InvalidIp.PrimaryIp');
    expect(await unassign(secondary)).toBe('none');
    expect(await unassign(secondary)).toBe('InvalidIp.IpUnassigned');
  });
});

describe('a request to ECS', () => {
  test.each([
    [
      'CreateNetworkInterface',
      { VSwitchId: 'vsw-x', SecurityGroupId: 'sg-pods' },
      'InvalidVSwitchId.NotFound',
    ],
    [
      'CreateNetworkInterface',
      { VSwitchId: 'vsw-a', SecurityGroupId: 'sg-x' },
      'InvalidSecurityGroupId.NotFound',
    ],
    ['CreateNetworkInterface', { VSwitchId: 'vsw-a' }, 'MissingSecurityGroupId'],
    ['CreateNetworkInterface', { SecurityGroupId: 'sg-pods' }, 'MissingVSwitchId'],
    ['AttachNetworkInterface', { InstanceId: 'i-1', NetworkInterfaceId: 'eni-x' }, 'InvalidEniId.NotFound'],
    ['DescribeInstances', { InstanceIds: 'i-1' }, 'InvalidInstanceIds.Malformed'],
    ['DescribeInstances', { Colour: 'red' }, 'UnsupportedParameter'],
    ['DescribeInstances', { RegionId: 'cn-beijing' }, 'InvalidRegionId.NotFound'],
    ['DescribeEverything', {}, 'InvalidAction.NotFound'],
  ])('%s %j is answered with %s', async (action, given, code) => {
    expect(await alibabaRig().codeOf(action, given)).toBe(code);
  });

  test('that attaches more than the type allows is refused, as are an unknown instance and another zone', async () => {
    const { ask, codeOf, made, time } = alibabaRig();
    const enis = [await made(), await made(), await made()] as const;
    const attach = (NetworkInterfaceId: string, InstanceId = 'i-1'): Promise<string> =>
      codeOf('AttachNetworkInterface', { NetworkInterfaceId, InstanceId });
    expect(await attach(enis[0], 'i-x')).toBe('InvalidEcsId.NotFound');
    expect(await attach(enis[0], 'i-2')).toBe('InvalidOperation.AvailabilityZoneMismatch');
    expect([await attach(enis[0]), await attach(enis[1]), await attach(enis[2])]).toEqual([
      'none',
      'none',
      'EniPerInstanceLimitExceeded',
    ]);
    await time.advance(3000);
    const answer = await ask('DescribeInstances', { InstanceIds: '["i-1"]' });
    const [instance] = listAt(answer, 'Instances', 'Instance');
    expect(listAt(instance, 'NetworkInterfaces', 'NetworkInterface')).toHaveLength(3);
  });
});
