import { describe, expect, test } from '@jest/globals';
import { type AliasPlan, aliasPlan } from '../../../../src/blocks/node-ipam/cloud/alias-condition.ts';
import { type Cidr, cidrText, type Family, parseCidr } from '../../../../src/blocks/set/cidr.ts';

function cidrs(texts: readonly string[]): readonly Cidr[] {
  return texts.map(parseCidr).flatMap((reading) => (reading.kind === 'cidr' ? [reading.cidr] : []));
}

function inWords(plan: AliasPlan): string {
  switch (plan.kind) {
    case 'assign':
      return `assign ${plan.cidrs.map(cidrText).join(' ')}`;
    case 'confirm':
      return 'confirm';
    case 'missing':
      return `missing ${plan.family ?? 'all'}`;
    case 'mismatch':
      return `mismatch ${cidrText(plan.cidr)}, routed ${plan.routed.map(cidrText).join(' ')}`;
  }
}

const [four, otherFour, six] = ['10.0.0.16/28', '10.0.0.32/28', 'fd00::/80'];

describe('what a Node gets of what a cloud routes to its instance', () => {
  test.each<[string, readonly string[], readonly string[], readonly Family[], string]>([
    ['nothing where nothing is routed', [], [], [], 'missing all'],
    ['nothing of both families where nothing is routed', [], [], ['ipv6', 'ipv4'], 'missing all'],
    ['what is routed', [], [six], [], `assign ${six}`],
    ['the first of each family, IPv4 first', [], [six, otherFour, four], [], `assign ${otherFour} ${six}`],
    ['the families in their order', [], [four, six], ['ipv6', 'ipv4'], `assign ${six} ${four}`],
    ['only families that Services have', [], [four, six], ['ipv6'], `assign ${six}`],
    ['nothing while a family is missing', [], [four], ['ipv4', 'ipv6'], 'missing ipv6'],
    ['nothing more than it has', [six], [six, four], ['ipv4', 'ipv6'], 'confirm'],
    ['its own, although it is not the first', [four], [otherFour, four], [], 'confirm'],
    ['nothing if another one is routed', [four], [otherFour], [], `mismatch ${four}, routed ${otherFour}`],
    ['nothing if one of two is not routed', [four, six], [four], [], `mismatch ${six}, routed ${four}`],
    [
      'nothing if a part of its own is routed',
      ['10.0.0.0/24'],
      [four],
      [],
      `mismatch 10.0.0.0/24, routed ${four}`,
    ],
    ['nothing if it has one and none is routed', [four], [], [], `mismatch ${four}, routed `],
  ])('is %s', (_, shown, aliases, families, plan) => {
    expect(inWords(aliasPlan({ shown: cidrs(shown), aliases: cidrs(aliases), families }))).toBe(plan);
  });
});
