import { describe, expect, test } from '@jest/globals';
import { alibabaSection as section } from '../../../../src/providers/alibaba/cilium-node-section.ts';
import type { StatusContext } from '../../../../src/providers/contract/cilium-node-section.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
} from '../../../../src/providers/contract/infrastructure.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { subnet, view } from '../../node/allocation-facts.ts';
import { networkInterface } from '../interfaces.ts';

const infrastructure: Infrastructure = {
  ...emptyInfrastructure,
  subnets: new Map([['vsw-1', subnet('vsw-1', { cidr: '10.0.0.0/24', zone: 'cn-hangzhou-a' })]]),
  networks: new Map([['vpc-1', { id: 'vpc-1', primaryCidr: '10.0.0.0/16', cidrs: ['192.168.0.0/16'] }]]),
};
const context: StatusContext = {
  infrastructure,
  usePrimaryAddress: true,
  unfit: new Set(),
  retired: new Set(),
  excluded: new Set(),
};
const item: NetworkInterface = networkInterface({
  id: 'eni-1',
  networkId: 'vpc-1',
  subnetId: 'vsw-1',
  zone: 'cn-hangzhou-a',
  mac: '00:16:3e:00:00:01',
  primaryAddress: '10.0.0.5',
  addresses: ['10.0.0.7', '10.0.0.6'],
  securityGroupIds: ['sg-1'],
  tags: { 'cilium-eni-index': '3' },
  attachment: {
    id: 'eni-1 on i-1',
    instanceId: 'i-1',
    deviceIndex: 3,
    networkCard: 0,
    state: 'attached',
    deleteOnTermination: true,
  },
});
const published = {
  'network-interface-id': 'eni-1',
  'mac-address': '00:16:3e:00:00:01',
  type: 'Secondary',
  'instance-id': 'i-1',
  'security-groupids': ['sg-1'],
  vpc: { 'vpc-id': 'vpc-1', cidr: '10.0.0.0/16', 'secondary-cidrs': ['192.168.0.0/16'] },
  'zone-id': 'cn-hangzhou-a',
  vswitch: { 'vswitch-id': 'vsw-1', cidr: '10.0.0.0/24' },
  'primary-ip-address': '10.0.0.5',
  'private-ipsets': [
    { 'private-ip-address': '10.0.0.5', primary: true },
    { 'private-ip-address': '10.0.0.6' },
    { 'private-ip-address': '10.0.0.7' },
  ],
  tags: { 'cilium-eni-index': '3' },
};

describe('the status on Alibaba Cloud', () => {
  test('has what agents need of an interface', () => {
    expect(section.status(view([item]), context)).toEqual({ enis: { 'eni-1': published } });
  });

  test('shows only what may have been used of an unfit interface', () => {
    const how = { ...context, unfit: new Set(['eni-1']), retired: new Set(['10.0.0.7']) };
    expect(section.status(view([item]), how)).toMatchObject({
      enis: { 'eni-1': { 'private-ipsets': [{ 'private-ip-address': '10.0.0.7' }] } },
    });
  });

  test('is restored as it was read', () => {
    const { interfaces, subnets, networks } = section.restore('i-1', { enis: { 'eni-1': published } }, '');
    const [restored] = interfaces;
    expect(restored).toMatchObject({ ...item, description: '', addresses: ['10.0.0.6', '10.0.0.7'] });
    expect(subnets.get('vsw-1')).toMatchObject({ cidr: '10.0.0.0/24', networkId: 'vpc-1' });
    expect(networks.get('vpc-1')).toEqual(infrastructure.networks.get('vpc-1'));
  });

  test('shows every address that an agent may use', () => {
    const skipped: unknown[] = [];
    const status = { enis: { 'eni-1': { 'private-ipsets': [{ 'private-ip-address': '10.0.0.5' }, 7] } } };
    const reading = section.shown(status, (path) => skipped.push(path));
    expect(reading).toEqual({ value: new Map([['eni-1', { addresses: ['10.0.0.5'], prefixes: [] }]]) });
    expect(skipped).toEqual([['enis', 'eni-1', 'private-ipsets', 1, 'private-ip-address']]);
  });

  test('loses what is gone, and nothing else', () => {
    const status = { enis: { 'eni-1': published, 'eni-2': published } };
    const gone = new Set(['eni-2', '10.0.0.6']);
    expect(section.without(status, (id) => gone.has(id))).toEqual({
      enis: {
        'eni-1': {
          ...published,
          'private-ipsets': [
            { 'private-ip-address': '10.0.0.5', primary: true },
            { 'private-ip-address': '10.0.0.7' },
          ],
        },
      },
    });
  });
});

describe('the spec on Alibaba Cloud', () => {
  test('says where new interfaces go, and that the primary one carries no pods', () => {
    const spec = {
      'instance-type': 'ecs.g7.large',
      'availability-zone': 'cn-hangzhou-a',
      'vpc-id': 'vpc-1',
      'cidr-block': '10.0.0.0/16',
      vswitches: ['vsw-1'],
      'vswitch-tags': { a: 'b' },
      'security-groups': ['sg-1'],
    };
    expect(section.requirements(spec)).toMatchObject({
      value: {
        missing: [],
        instanceType: 'ecs.g7.large',
        networkId: 'vpc-1',
        zone: 'cn-hangzhou-a',
        firstInterfaceIndex: 1,
        subnetIds: ['vsw-1'],
        subnetTags: { a: 'b' },
        securityGroupIds: ['sg-1'],
      },
    });
  });

  test.each([
    [undefined, ['spec.alibaba-cloud']],
    [{ 'vpc-id': 'vpc-1' }, ['spec.alibaba-cloud.instance-type', 'spec.alibaba-cloud.availability-zone']],
  ])('%j lacks %j', (spec, missing) => {
    expect(section.requirements(spec)).toMatchObject({ value: { missing } });
  });

  test('with another form is unreadable', () => {
    expect(section.requirements({ vswitches: 'vsw-1' })).toMatchObject({
      problems: [{ path: ['vswitches'], accepted: 'a list of texts' }],
    });
  });
});
