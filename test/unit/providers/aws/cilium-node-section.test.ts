import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { CiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node.ts';
import { readCiliumNode } from '../../../../src/kubernetes/cilium-node/cilium-node-reader.ts';
import {
  emptyInfrastructure,
  type Infrastructure,
} from '../../../../src/providers/contract/infrastructure.ts';
import type { Json, JsonObject } from '../../../../src/runtime/json.ts';
import { expandBlock } from '../../../../src/providers/contract/ipv4.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import type { RestoredState } from '../../../../src/providers/contract/cilium-node-section.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { view } from '../../node/allocation-facts.ts';
import { addresses, attachment, networkInterface } from '../interfaces.ts';

const infrastructure: Infrastructure = {
  ...emptyInfrastructure,
  subnets: new Map([
    [
      'subnet-1',
      {
        id: 'subnet-1',
        cidr: '10.0.0.0/24',
        networkId: 'vpc-1',
        zone: 'us-west-1a',
        tags: {},
        freeAddresses: 9,
        eligible: true,
      },
    ],
  ]),
  networks: new Map([['vpc-1', { id: 'vpc-1', primaryCidr: '10.0.0.0/16', cidrs: ['10.1.0.0/16'] }]]),
};

const { words } = awsSection;
const eniStatus: typeof awsSection.status = (shown, context) => awsSection.status(shown, context);
const restoreStatus = (id: string, status: unknown): RestoredState =>
  awsSection.restore(id, status, 'us-west-1a');

const nothing: ReadonlySet<string> = new Set();

function statusOf(
  item: NetworkInterface,
  how: { primary?: boolean; excluded?: string[]; unfit?: boolean; retired?: string[] } = {},
): Record<string, unknown> {
  const status = eniStatus(view([item]), {
    infrastructure,
    usePrimaryAddress: how.primary ?? false,
    unfit: new Set(how.unfit === true ? [item.id] : []),
    retired: new Set(how.retired),
    excluded: new Set(how.excluded),
  });
  return (status as { enis: Record<string, Record<string, unknown>> }).enis[item.id] ?? {};
}

describe('the status of an interface', () => {
  test('gives agents all that they need', () => {
    const item = networkInterface({
      description: 'first',
      publicAddress: '3.3.3.3',
      addresses: ['10.0.0.10', '10.0.0.11'],
      tags: { name: 'one', empty: '' },
      attachment: attachment({ deviceIndex: 2 }),
    });

    expect(statusOf(item)).toEqual({
      id: 'eni-1',
      ip: '10.0.0.4',
      mac: '02:00:00:00:00:01',
      description: 'first',
      number: 2,
      subnet: { id: 'subnet-1', cidr: '10.0.0.0/24' },
      vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/16', cidrs: ['10.1.0.0/16'] },
      addresses: ['10.0.0.10', '10.0.0.11'],
      'security-groups': ['sg-1'],
      tags: { name: 'one', empty: '' },
      'public-ip': '3.3.3.3',
    });
  });

  test('leaves out what is empty', () => {
    const item = networkInterface({
      zone: '',
      securityGroupIds: [],
      subnetId: 'subnet-9',
      networkId: 'vpc-9',
    });

    expect(statusOf(item)).toEqual({
      id: 'eni-1',
      ip: '10.0.0.4',
      mac: '02:00:00:00:00:01',
      subnet: { id: 'subnet-9' },
      vpc: { id: 'vpc-9' },
    });
  });

  test('shows the members of prefixes after single addresses, and the prefixes', () => {
    const item = networkInterface({ addresses: ['10.0.0.10'], prefixes: ['10.0.0.32/28'] });

    const status = statusOf(item);

    expect(status['addresses']).toEqual(['10.0.0.10', ...expandBlock('10.0.0.32/28')]);
    expect(status['prefixes']).toEqual(['10.0.0.32/28']);
  });

  test('shows the primary address only if pods may have it', () => {
    const item = networkInterface({ addresses: ['10.0.0.10'] });

    expect(statusOf(item, { primary: true })['addresses']).toEqual(['10.0.0.4', '10.0.0.10']);
    expect(statusOf(item)['addresses']).toEqual(['10.0.0.10']);
  });

  const block = '10.0.0.32/28';
  const members = expandBlock(block);

  test.each<[string, string[], string[] | undefined, string[] | undefined]>([
    ['nothing', [], undefined, undefined],
    ['its retired addresses', ['10.0.0.11'], ['10.0.0.11'], undefined],
    ['its primary address if that is retired', ['10.0.0.4'], ['10.0.0.4'], undefined],
    ['a prefix that is retired', members, members, [block]],
    ['no prefix of which only a part is', members.slice(1), members.slice(1), undefined],
  ])('shows of an unfit interface %s', (_, retired, addressesShown, prefixes) => {
    const item = networkInterface({ addresses: ['10.0.0.10', '10.0.0.11'], prefixes: [block] });

    const status = statusOf(item, { primary: true, unfit: true, retired });

    expect(status).toMatchObject({ id: 'eni-1', ip: '10.0.0.4' });
    expect([status['addresses'], status['prefixes']]).toEqual([addressesShown, prefixes]);
  });

  test('shows a primary address that pods had before, next to the others', () => {
    const item = networkInterface({ addresses: ['10.0.0.10'] });

    expect(statusOf(item, { retired: ['10.0.0.4'] })['addresses']).toEqual(['10.0.0.4', '10.0.0.10']);
  });

  test('shows no retired address that is held back', () => {
    const item = networkInterface({ addresses: ['10.0.0.10', '10.0.0.11'] });
    const how = { unfit: true, retired: item.addresses.slice(), excluded: ['10.0.0.10'] };

    expect(statusOf(item, how)['addresses']).toEqual(['10.0.0.11']);
  });

  test.each([
    ['a single one', ['10.0.0.10'], ['10.0.0.4', '10.0.0.11'], true],
    ['the primary one', ['10.0.0.4'], ['10.0.0.10', '10.0.0.11'], true],
    [
      'a member, whose prefix is then not shown as one',
      ['10.0.0.33'],
      ['10.0.0.4', '10.0.0.10', '10.0.0.11'],
      false,
    ],
    ["another interface's", ['10.0.0.99'], ['10.0.0.4', '10.0.0.10', '10.0.0.11'], true],
  ])('holds back %s', (_, excluded, single, whole) => {
    const item = networkInterface({ addresses: ['10.0.0.10', '10.0.0.11'], prefixes: ['10.0.0.32/28'] });

    const status = statusOf(item, { primary: true, excluded });

    const members = expandBlock('10.0.0.32/28').filter((address) => !excluded.includes(address));
    expect(status['addresses']).toEqual([...single, ...members]);
    expect(status['prefixes']).toEqual(whole ? ['10.0.0.32/28'] : undefined);
  });

  test('exists for every interface of the instance', () => {
    const items = [networkInterface(), networkInterface({ id: 'eni-2', reservedFor: 'trunk' })];

    const status = eniStatus(view(items), {
      infrastructure,
      usePrimaryAddress: false,
      unfit: new Set(['eni-2']),
      retired: new Set(),
      excluded: new Set(),
    });

    expect(Object.keys((status as JsonObject)['enis'] as object)).toEqual(['eni-1', 'eni-2']);
  });
});

describe('a published status', () => {
  const prefixes = fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { maxLength: 4 });
  const interfaces = fc
    .array(
      fc.record({
        count: fc.integer({ min: 0, max: 20 }),
        prefixes,
        description: fc.string(),
        tags: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
        publicAddress: fc.option(fc.ipV4(), { nil: undefined }),
      }),
      { maxLength: 4 },
    )
    .map((rows) =>
      rows.map((row, index) =>
        networkInterface({
          id: `eni-${index}`,
          description: row.description,
          publicAddress: row.publicAddress,
          tags: row.tags,
          primaryAddress: `10.0.${index}.4`,
          addresses: addresses(row.count, index, 240 - 20),
          prefixes: row.prefixes.map((block) => `10.1.${index}.${block * 16}/28`),
          attachment: attachment({ id: '', deviceIndex: index }),
        }),
      ),
    );

  test('restores the interfaces that it was made of', () => {
    fc.assert(
      fc.property(interfaces, fc.boolean(), (items, usePrimaryAddress) => {
        const shown = { usePrimaryAddress, unfit: nothing, retired: nothing, excluded: nothing };
        const status = eniStatus(view(items), { infrastructure, ...shown });

        const restored = restoreStatus('i-1', JSON.parse(JSON.stringify(status))).interfaces;

        expect(restored).toEqual(items);
      }),
    );
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'enis'],
    ['a list', []],
    ['no interfaces', {}],
    ['invalid interfaces', { enis: { a: null, b: 'x', c: 7, d: [] } }],
    ['interfaces in a list', { enis: ['eni-1'] }],
  ])('restores nothing when it is %s', (_, status) => {
    expect(restoreStatus('i-1', status).interfaces).toEqual([]);
  });

  const full = {
    ip: '10.0.0.4',
    mac: '02:00:00:00:00:01',
    subnet: { id: 'subnet-1' },
    vpc: { id: 'vpc-1' },
  };

  test.each([
    ['ip', undefined],
    ['ip', '10.0.0.400'],
    ['mac', ''],
    ['subnet', {}],
    ['subnet', 'subnet-1'],
    ['vpc', null],
  ])('restores nothing of an interface without a valid %s (%j)', (field, value) => {
    const enis = { 'eni-1': { ...full, [field]: value }, 'eni-2': full };

    expect(restoreStatus('i-1', { enis }).interfaces.map(({ id }) => id)).toEqual(['eni-2']);
  });

  test('restores the valid parts and skips the others', () => {
    const eni = {
      ...full,
      number: 'two',
      addresses: ['10.0.0.4', '10.0.0.10', 'x', 7, null, '10.0.0.33', '010.0.0.1'],
      prefixes: ['10.0.0.32/28', '10.0.0.33/28', '10.0.0.0/24', {}],
      'security-groups': 'sg-1',
      tags: null,
    };

    const [restored] = restoreStatus('i-1', { enis: { 'eni-1': eni } }).interfaces;

    expect(restored).toMatchObject({
      addresses: ['10.0.0.10'],
      prefixes: ['10.0.0.32/28'],
      securityGroupIds: [],
      tags: {},
      attachment: { instanceId: 'i-1', deviceIndex: 0, state: 'attached' },
    });
  });
});

describe('the field names of a CiliumNode in messages', () => {
  test.each([
    ['instanceType', 'instanceType', 'm9.huge'],
    ['networkId', 'networkId', 'vpc-9'],
    ['zone', 'zone', 'eu-north-1c'],
    ['securityGroupIds', 'securityGroupIds', ['sg-9']],
    ['securityGroupTags', 'securityGroupTags', { purpose: 'pods' }],
  ] as const)('include the field that the %s is read from', (word, part, value) => {
    const path = words.fields[word].split('.');

    const { node } = readCiliumNode(
      ciliumNode(path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonObject),
      awsSection,
    ) as { node: CiliumNode };

    expect(node.section[part]).toEqual(value);
    expect(path.slice(0, -1).join('.')).toBe('spec.eni');
  });
});

test.each<[string, object, Partial<Infrastructure>, boolean]>([
  ['of which all is known', {}, {}, true],
  ['not without its own address', { primaryAddress: '' }, {}, false],
  ['not in an unknown subnet', {}, { subnets: new Map() }, false],
  ['not in an unknown network', {}, { networks: new Map() }, false],
  [
    'not in a network whose block is unknown',
    {},
    { networks: new Map([['vpc-1', { id: 'vpc-1', primaryCidr: '', cidrs: [] }]]) },
    false,
  ],
])('the status can hold an interface %s', (_, change, unlike, expected) => {
  const item = networkInterface({ subnetId: 'subnet-1', networkId: 'vpc-1', ...change });

  expect(awsSection.isShowable(item, { ...infrastructure, ...unlike })).toBe(expected);
});
