import { describe, expect, test } from '@jest/globals';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { JsonObject } from '../../../../src/runtime/json.ts';
import { applyMergePatch } from '../../../../src/kubernetes/transport/merge-patch.ts';
import type { OpenWrite } from '../../../../src/kubernetes/cilium-node/own-writes.ts';
import { conflictingParts, type WrittenPart } from '../../../../src/node/publish/conflicting-write.ts';
import { ciliumNode } from '../../kubernetes/cilium-node-fixture.ts';
import { wellFormed } from '../cilium-nodes.ts';

const full: JsonObject = {
  id: 'eni-1',
  ip: '10.0.0.9',
  number: 1,
  tags: { team: '' },
  'availability-zone': 'us-west-2a',
  'public-ip': '203.0.113.9',
  subnet: { id: 'subnet-1', cidr: '10.0.0.0/24' },
  addresses: ['10.0.0.1', '10.0.0.2'],
  prefixes: ['10.0.1.0/28'],
  'ipv6-prefixes': ['2001:db8::/80'],
};

const asking = { pool: 'default', needed: { 'ipv4-addrs': 8, 'ipv6-addrs': 8 } };

/** The node after our last write. */
const before = ciliumNode({ status: { eni: { enis: { 'eni-1': full } } } });

function partsOf(change: JsonObject, open: readonly OpenWrite[] = []): readonly WrittenPart[] {
  const next = wellFormed(applyMergePatch(before, change));
  return conflictingParts({ previous: wellFormed(before), next, section: awsSection, open });
}

const pool = (entries: JsonObject): JsonObject => ({ spec: { ipam: { pool: entries } } });
const eni = (fields: JsonObject): JsonObject => ({ status: { eni: { enis: { 'eni-1': fields } } } });
const specWrite = (patch: JsonObject): OpenWrite => ({ base: '4711', part: 'spec', patch });
const statusWrite = (patch: JsonObject): OpenWrite => ({ base: '4711', part: 'status', patch });

describe('a conflicting write while no write of ours is open', () => {
  test.each<[string, JsonObject, readonly WrittenPart[]]>([
    ['nothing', {}, []],
    ['an annotation', { metadata: { annotations: { a: 'b' } } }, []],
    ['addresses in use', { status: { ipam: { used: { '10.0.0.2': { resource: 'eni-1' } } } } }, []],
    ['an answer to a release', { status: { ipam: { 'release-ips': { '10.0.0.2': 'do-not-release' } } } }, []],
    ['another demand', { spec: { ipam: { pools: { requested: [] } } } }, []],
    ['another watermark', { spec: { ipam: { 'pre-allocate': 20 } } }, []],
    ['the spec of its agent', { spec: { eni: { 'security-groups': ['sg-2'] } } }, []],
    ['a field dropped that older agents do not know', eni({ 'public-ip': null }), []],
    ['an IPv6 prefix dropped by an agent that does not know any', eni({ 'ipv6-prefixes': null }), []],
    [
      'an IPv6 prefix dropped although its agent asks for IPv6',
      {
        status: { ipam: { used: null }, eni: { enis: { 'eni-1': { 'ipv6-prefixes': null } } } },
        spec: { ipam: { pools: { requested: [asking] } } },
      },
      ['status'],
    ],
    ['another IPv6 prefix', eni({ 'ipv6-prefixes': ['2001:db8:0:1::/80'] }), ['status']],
    ['values that are equal on the wire', eni({ description: '', number: 1 }), []],
    ['a member of others dropped', eni({ 'availability-zone': null }), []],
    ['a member of others added', eni({ 'more-prefixes': ['2001:db8::/80'], subnet: { more: 1 } }), []],
    ['a member of others beside the interfaces', { status: { eni: { more: 1 } } }, []],

    ['an address put into the pool', pool({ '10.0.0.7': { resource: 'eni-1' } }), ['pool']],
    ['an address removed from the pool', pool({ '10.0.0.1': null }), ['pool']],
    ['an address of another interface', pool({ '10.0.0.1': { resource: 'eni-2' } }), ['pool']],
    ['an address exchanged', pool({ '10.0.0.1': null, '10.0.0.7': { resource: 'eni-1' } }), ['pool']],
    ['an owner in the pool', pool({ '10.0.0.1': { owner: 'me' } }), ['pool']],
    ['the pool emptied', { spec: { ipam: { pool: null } } }, ['pool']],
    ['an interface added', { status: { eni: { enis: { 'eni-2': full } } } }, ['status']],
    ['an interface taken out', { status: { eni: { enis: { 'eni-1': null } } } }, ['status']],
    ['the section taken out', { status: { eni: null } }, ['status']],
    ['addresses of an interface', eni({ addresses: ['10.0.0.1'] }), ['status']],
    ['no addresses on an interface', eni({ addresses: null }), ['status']],
    ['no prefixes on an interface', eni({ prefixes: null }), ['status']],
    ['a tag with the empty value taken off', eni({ tags: null }), ['status']],
    ['another public address', eni({ 'public-ip': '203.0.113.10' }), ['status']],
    [
      'both parts',
      { ...pool({ '10.0.0.7': { resource: 'eni-1' } }), ...eni({ addresses: ['10.0.0.7'] }) },
      ['pool', 'status'],
    ],
  ])('is seen in: %s', (_what, change, parts) => {
    expect(partsOf(change)).toEqual(parts);
  });
});

describe('a conflicting write while a write of ours has no answer', () => {
  const grown = pool({ '10.0.0.7': { resource: 'eni-1' } });
  const growing = specWrite({ ipam: { pool: { '10.0.0.7': { resource: 'eni-1' } } } });
  const shrinking = specWrite({ ipam: { pool: { '10.0.0.1': null } } });
  const changed = eni({ addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.7'] });
  const changing = statusWrite({
    eni: { enis: { 'eni-1': { addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.7'] } } },
  });
  const other = statusWrite({ ipam: { 'operator-status': { error: 'no room' } } });

  test.each<[string, JsonObject, readonly OpenWrite[], readonly WrittenPart[]]>([
    ['it happened', grown, [growing], []],
    ['it took effect, and removed something', pool({ '10.0.0.1': null }), [shrinking], []],
    ['one of several happened', grown, [changing, growing, shrinking], []],
    ['it happened to the status', changed, [changing], []],
    ['it did not happen, and nothing else did', {}, [growing, changing], []],
    ['it did not happen, and another did', pool({ '10.0.0.2': null }), [growing], ['pool']],
    ['part of it happened', grown, [specWrite({ ipam: { pool: { '10.0.0.7': null } } })], ['pool']],
    [
      'it took effect, and another client wrote the other part',
      { ...grown, ...changed },
      [growing],
      ['status'],
    ],
    ['it was of another part', changed, [other, growing], ['status']],
  ])('is seen when: %s', (_what, change, open, parts) => {
    expect(partsOf(change, open)).toEqual(parts);
  });
});
