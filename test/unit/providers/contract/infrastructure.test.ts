import { expect, test } from '@jest/globals';
import {
  emptyInfrastructure,
  type Infrastructure,
  type Subnet,
  withMemory,
} from '../../../../src/providers/contract/infrastructure.ts';
import { failure } from '../../node/outcomes.ts';

const subnet = (id: string): Subnet => ({
  id,
  networkId: 'vpc-1',
  zone: 'a',
  cidr: '10.0.0.0/24',
  tags: {},
  freeAddresses: 7,
  eligible: true,
});
const network = { id: 'vpc-1', primaryCidr: '10.0.0.0/16', cidrs: [] };

test('what a reading does not show is kept, but nothing new uses it', () => {
  const known = { subnets: new Map([['a', subnet('a')]]), networks: new Map([['vpc-1', network]]) };
  const read = { ...emptyInfrastructure, subnets: new Map([['b', subnet('b')]]) };

  const { subnets, networks } = withMemory(read, known);

  expect(subnets.get('a')).toEqual({ ...subnet('a'), freeAddresses: 0, eligible: false });
  expect(subnets.get('b')).toEqual(subnet('b'));
  expect(networks.get('vpc-1')).toEqual(network);
});

test('what a reading shows replaces what was known', () => {
  const known = { subnets: new Map([['a', subnet('a')]]), networks: new Map([['vpc-1', network]]) };
  const newer = { ...subnet('a'), freeAddresses: 3 };
  const read = {
    ...emptyInfrastructure,
    subnets: new Map([['a', newer]]),
    networks: new Map([['vpc-1', { ...network, cidrs: ['10.1.0.0/16'] }]]),
  };

  const { subnets, networks } = withMemory(read, known);

  expect(subnets.get('a')).toEqual(newer);
  expect(networks.get('vpc-1')?.cidrs).toEqual(['10.1.0.0/16']);
});

test('what is in a zone that could not be read stays as it was', () => {
  const known = { subnets: new Map([['a', subnet('a')]]), networks: new Map([['vpc-1', network]]) };
  const read = { ...emptyInfrastructure, unreadZones: new Map([['a', failure('unreachable')]]) };

  expect(withMemory(read, known).subnets.get('a')).toEqual(subnet('a'));
});

test('what is in a network that may not be read stays as it was', () => {
  const groups = [{ id: 'sg-1', networkId: 'vpc-1', tags: {} }];
  const known = {
    subnets: new Map([['a', subnet('a')]]),
    networks: new Map([['vpc-1', network]]),
    securityGroups: groups,
  };
  const unreadNetworks = new Map([['vpc-1', failure('notAuthorized')]]);

  const kept = withMemory({ ...emptyInfrastructure, unreadNetworks }, known);

  expect(kept.subnets.get('a')).toEqual(subnet('a'));
  expect(kept.securityGroups).toEqual(groups);
});

test('security groups that could not be read are those that were', () => {
  const group = (id: string) => ({ id, networkId: 'vpc-1', tags: {} });
  const known = { subnets: new Map(), networks: new Map(), securityGroups: [group('sg-1'), group('sg-2')] };
  const deniedIn = (id: string) => ({ securityGroups: new Map([[id, failure('unreadable')]]) });
  const denied = deniedIn('vpc-1');

  const ids = (read: Partial<Infrastructure>): readonly string[] =>
    withMemory({ ...emptyInfrastructure, ...read }, known).securityGroups.map(({ id }) => id);

  expect(ids({ denied })).toEqual(['sg-1', 'sg-2']);
  expect(ids({ denied, securityGroups: [group('sg-2')] })).toEqual(['sg-2', 'sg-1']);
  expect(ids({ denied: deniedIn('vpc-2'), securityGroups: [group('sg-2')] })).toEqual(['sg-2']);
  expect(ids({ securityGroups: [group('sg-3')] })).toEqual(['sg-3']);
});
