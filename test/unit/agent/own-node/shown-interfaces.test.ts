import { describe, expect, test } from '@jest/globals';
import type { CloudMode } from '../../../../src/config/clouds/clouds.ts';
import { shownInterfaces } from '../../../../src/agent/own-node/shown-interfaces.ts';
import { cidrText } from '../../../../src/blocks/set/cidr.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';

const eni = (more: JsonObject = {}): JsonObject => ({
  id: 'eni-1',
  mac: 'm1',
  number: 2,
  subnet: { cidr: '10.0.1.0/24' },
  vpc: { 'primary-cidr': '10.0.0.0/16', cidrs: ['10.1.0.0/16'] },
  prefixes: ['10.0.1.16/28'],
  addresses: ['10.0.1.7', '10.0.1.17', 'x'],
  ...more,
});
const ofEni = (more?: JsonObject, spec: JsonObject = {}): JsonObject => ({
  spec: { eni: spec },
  status: { eni: { enis: { 'eni-1': eni(more) } } },
});
const azure = (more: JsonObject = {}): JsonObject => ({
  status: {
    azure: {
      interfaces: [
        {
          id: 'nic',
          mac: 'm1',
          gateway: '10.0.1.1',
          cidr: '10.0.1.0/24',
          addresses: [
            { ip: '10.0.1.7', state: 'succeeded' },
            { ip: '10.0.1.8', state: 'failed' },
          ],
          ...more,
        },
      ],
    },
  },
});
const alibaba = (more: JsonObject = {}): JsonObject => ({
  status: {
    'alibaba-cloud': {
      enis: {
        'eni-1': {
          'network-interface-id': 'eni-1',
          'mac-address': 'm1',
          vswitch: { cidr: '10.0.1.0/24' },
          tags: { 'cilium-eni-index': '2' },
          'private-ipsets': [{ 'private-ip-address': '10.0.1.7', primary: true }],
          ...more,
        },
      },
    },
  },
});

describe('the interfaces of a status', () => {
  test.each<readonly [CloudMode, JsonObject, object, readonly string[]]>([
    [
      'eni',
      ofEni(),
      {
        mac: 'm1',
        interfaceNumber: '2',
        gateway: '10.0.1.1',
        subnet: '10.0.1.0/24',
        cidrs: ['10.0.0.0/16', '10.1.0.0/16'],
      },
      ['10.0.1.16/28', '10.0.1.7/32'],
    ],
    ['eni', ofEni({ number: null }), { interfaceNumber: '0' }, ['10.0.1.16/28', '10.0.1.7/32']],
    [
      'azure',
      azure(),
      { mac: 'm1', interfaceNumber: '0', gateway: '10.0.1.1', cidrs: ['10.0.1.0/24'] },
      ['10.0.1.7/32'],
    ],
    [
      'azure',
      azure({ cidr: '', subnet: { cidr: '10.0.0.0/23' } }),
      { cidrs: ['10.0.0.0/23'] },
      ['10.0.1.7/32'],
    ],
    [
      'alibabacloud',
      alibaba(),
      {
        mac: 'm1',
        interfaceNumber: '2',
        gateway: '10.0.1.253',
        subnet: '10.0.1.0/24',
        cidrs: ['10.0.1.0/24'],
      },
      ['10.0.1.7/32'],
    ],
  ])('of %s say what pods need', (mode, raw, details, networks) => {
    const [first] = shownInterfaces(mode, raw);

    expect(first).toMatchObject({
      details: { ipv4: details },
      lacks: { ipv4: undefined },
      isExcluded: false,
    });
    expect(first?.networks.map(cidrText)).toEqual(networks);
  });

  test.each<readonly [CloudMode, JsonObject, string]>([
    ['eni', ofEni({ mac: '' }), 'MAC address'],
    ['eni', ofEni({ subnet: {} }), 'subnet CIDR'],
    ['eni', ofEni({ vpc: null }), 'primary VPC CIDR'],
    ['azure', azure({ mac: 7 }), 'MAC address'],
    ['azure', azure({ gateway: 'x' }), 'gateway'],
    ['alibabacloud', alibaba({ vswitch: { cidr: '10' } }), 'vSwitch CIDR'],
  ])('of %s name what lacks', (mode, raw, lacks) => {
    expect(shownInterfaces(mode, raw)).toMatchObject([{ lacks: { ipv4: lacks } }]);
  });

  test.each<readonly [JsonObject, JsonObject, boolean]>([
    [{ 'first-interface-index': 3 }, {}, true],
    [{ 'first-interface-index': 2 }, {}, false],
    [{ 'exclude-interface-tags': { a: '1', b: '2' } }, { tags: { a: '1', b: '2', c: '3' } }, true],
    [{ 'exclude-interface-tags': { a: '1', b: '2' } }, { tags: { a: '1' } }, false],
    [{ 'exclude-interface-tags': {} }, {}, false],
  ])('of eni with %j and %j are excluded: %s', (spec, more, isExcluded) => {
    expect(shownInterfaces('eni', ofEni(more, spec))).toMatchObject([{ isExcluded }]);
  });

  test('of eni have IPv6 prefixes, whose pods are told nothing of IPv4', () => {
    const [first] = shownInterfaces('eni', ofEni({ 'ipv6-prefixes': ['2600:1f14:1:1:a::/80'] }));

    expect(first?.networks.map(cidrText)).toEqual(['10.0.1.16/28', '2600:1f14:1:1:a::/80', '10.0.1.7/32']);
    expect(first?.details.ipv6).toEqual({ mac: 'm1', interfaceNumber: '2', gateway: 'fe80:ec2::1' });
  });

  test.each(['2600:1f14:1:1:a/80', '2600:1f14:1:1::/64', '10.0.1.16/28', 7])(
    'of eni do not have %j as an IPv6 prefix',
    (prefix) => {
      const [first] = shownInterfaces('eni', ofEni({ 'ipv6-prefixes': [prefix, '2600:1f14:1:1:b::/80'] }));

      expect(first?.networks.map(cidrText)).toEqual(['10.0.1.16/28', '2600:1f14:1:1:b::/80', '10.0.1.7/32']);
    },
  );

  test('of eni do not have a prefix of IPv6 among those of IPv4', () => {
    const [first] = shownInterfaces('eni', ofEni({ prefixes: ['2600:1f14:1:1:a::/80'], addresses: [] }));

    expect(first?.networks).toEqual([]);
  });

  test('of eni lack nothing for IPv6 where only what IPv4 needs is missing', () => {
    expect(shownInterfaces('eni', ofEni({ subnet: {}, vpc: null }))).toMatchObject([
      { lacks: { ipv4: 'subnet CIDR', ipv6: undefined } },
    ]);
    expect(shownInterfaces('eni', ofEni({ mac: '' }))).toMatchObject([{ lacks: { ipv6: 'MAC address' } }]);
  });

  test.each<readonly [CloudMode, JsonObject]>([
    ['eni', { status: { eni: { enis: [] } } }],
    ['azure', { status: { azure: { interfaces: {} } } }],
    ['alibabacloud', {}],
  ])('of %s in another shape are none', (mode, raw) => {
    expect(shownInterfaces(mode, raw)).toEqual([]);
  });
});
