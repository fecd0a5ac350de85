import { describe, expect, test } from '@jest/globals';
import type { Ec2Subnet } from '../../../../src/providers/aws/ec2-api.ts';
import {
  readNetwork,
  readRouteTable,
  readSecurityGroup,
  readSubnet,
} from '../../../../src/providers/aws/infrastructure.ts';
import type { ReadOptions } from '../../../../src/providers/aws/read-list.ts';
import { isUnreadable } from '../../../../src/providers/reading/infrastructure-parts.ts';
import { ec2Subnet } from './ec2-shapes.ts';

const noFilter = { subnetIds: [], subnetTags: {} };

describe('a subnet in the answer of EC2', () => {
  test('is read as a whole', () => {
    const subnet = readSubnet(ec2Subnet({ Tags: [{ Key: 'pods', Value: 'yes' }] }), noFilter);

    expect(subnet).toEqual({
      id: 'subnet-1',
      networkId: 'vpc-00000001',
      zone: 'us-west-1a',
      cidr: '10.0.0.0/24',
      tags: { pods: 'yes' },
      freeAddresses: 200,
      eligible: true,
    });
    expect(isUnreadable(subnet)).toBe(false);
  });

  test('may have no free address', () => {
    expect(readSubnet(ec2Subnet({ AvailableIpAddressCount: 0 }), noFilter)).toMatchObject({
      freeAddresses: 0,
    });
  });

  test.each<[string, Partial<Pick<ReadOptions, 'subnetIds' | 'subnetTags'>>, boolean]>([
    ['without a filter', {}, true],
    ['named by the filter', { subnetIds: ['subnet-0', 'subnet-1'] }, true],
    ['not named by the filter', { subnetIds: ['subnet-0'] }, false],
    ['with the tags of the filter', { subnetTags: { pods: 'yes' } }, true],
    ['without them', { subnetTags: { pods: 'no' } }, false],
    ['with one of two', { subnetTags: { pods: 'yes', zone: 'a' } }, false],
    ['named, but without the tags', { subnetIds: ['subnet-1'], subnetTags: { pods: 'no' } }, false],
  ])('is usable for pods by the filter: %s', (_, filter, eligible) => {
    const shown = ec2Subnet({ Tags: [{ Key: 'pods', Value: 'yes' }] });

    expect(readSubnet(shown, { ...noFilter, ...filter })).toMatchObject({ eligible });
  });

  test('has nothing for pods and causes no warning when it has IPv6 only', () => {
    const shown = ec2Subnet({ CidrBlock: undefined, Ipv6Native: true, AvailableIpAddressCount: 0 });

    expect(readSubnet(shown, noFilter)).toBeUndefined();
  });

  test.each<[string, Partial<Ec2Subnet>]>([
    ['SubnetId is missing', { SubnetId: undefined, CidrBlock: undefined, Ipv6Native: true }],
    ['SubnetId is missing', { SubnetId: undefined }],
    ['VpcId is missing', { VpcId: undefined }],
    ['AvailabilityZone is missing', { AvailabilityZone: undefined }],
    ['undefined is not an IPv4 block', { CidrBlock: undefined }],
    ['"fd00::/64" is not an IPv4 block', { CidrBlock: 'fd00::/64' }],
    ['AvailableIpAddressCount is missing', { AvailableIpAddressCount: undefined }],
    ['AvailableIpAddressCount is missing', { AvailableIpAddressCount: Number.NaN }],
  ])('is named when it cannot be read: %s (case %#)', (problem, change) => {
    const shown = ec2Subnet(change);

    const read = readSubnet(shown, noFilter);

    expect(read).toEqual({ what: 'subnet', id: shown.SubnetId ?? '(without an id)', problem });
    expect(isUnreadable(read)).toBe(true);
  });
});

describe('a network in the answer of EC2', () => {
  test('has its blocks, with the primary one apart and without those being removed', () => {
    const block = (CidrBlock: string | undefined, State: string | undefined) => ({
      CidrBlock,
      CidrBlockState: { State },
    });

    const network = readNetwork({
      VpcId: 'vpc-00000001',
      CidrBlock: '10.0.0.0/16',
      CidrBlockAssociationSet: [
        block('10.0.0.0/16', 'associated'),
        block('10.1.0.0/16', 'associated'),
        block('10.2.0.0/16', 'disassociated'),
        block('10.3.0.0/16', undefined),
        block(undefined, 'associated'),
        { CidrBlock: '10.4.0.0/16' },
        block('100.64.0.0/10', 'associated'),
      ],
    });

    expect(network).toEqual({
      id: 'vpc-00000001',
      primaryCidr: '10.0.0.0/16',
      cidrs: ['10.1.0.0/16', '100.64.0.0/10'],
    });
  });

  test('may have a single block', () => {
    expect(readNetwork({ VpcId: 'vpc-00000001', CidrBlock: '10.0.0.0/16' })).toMatchObject({ cidrs: [] });
  });

  test.each([
    [{ CidrBlock: '10.0.0.0/16' }, '(without an id)', 'VpcId is missing'],
    [{ VpcId: 'vpc-00000001' }, 'vpc-00000001', 'undefined is not an IPv4 block'],
    [
      { VpcId: 'vpc-00000001', CidrBlock: '10.0.0.1/16' },
      'vpc-00000001',
      '"10.0.0.1/16" is not an IPv4 block',
    ],
  ])('is named when it cannot be read: %j', (shown, id, problem) => {
    expect(readNetwork(shown)).toEqual({ what: 'network', id, problem });
  });
});

describe('a route table in the answer of EC2', () => {
  test('has the subnets that are associated explicitly', () => {
    const table = readRouteTable({
      RouteTableId: 'rtb-1',
      VpcId: 'vpc-00000001',
      Associations: [{}, { SubnetId: 'subnet-2' }, { SubnetId: 'subnet-1' }],
    });

    expect(table).toEqual({ id: 'rtb-1', networkId: 'vpc-00000001', subnetIds: ['subnet-2', 'subnet-1'] });
  });

  test('may have no subnets', () => {
    expect(readRouteTable({ RouteTableId: 'rtb-1', VpcId: 'vpc-00000001' })).toMatchObject({ subnetIds: [] });
  });

  test.each([
    [{ VpcId: 'vpc-00000001' }, '(without an id)'],
    [{ RouteTableId: 'rtb-1' }, 'rtb-1'],
  ])('is named when it cannot be read: %j', (shown, id) => {
    expect(readRouteTable(shown)).toMatchObject({ what: 'route table', id });
  });
});

describe('a security group in the answer of EC2', () => {
  test('has its tags', () => {
    const group = readSecurityGroup({
      GroupId: 'sg-1',
      VpcId: 'vpc-00000001',
      Tags: [{ Key: 'pods', Value: 'yes' }],
    });

    expect(group).toEqual({ id: 'sg-1', networkId: 'vpc-00000001', tags: { pods: 'yes' } });
  });

  test.each([
    [{ VpcId: 'vpc-00000001' }, '(without an id)'],
    [{ GroupId: 'sg-1' }, 'sg-1'],
  ])('is named when it cannot be read: %j', (shown, id) => {
    expect(readSecurityGroup(shown)).toMatchObject({ what: 'security group', id });
  });
});
