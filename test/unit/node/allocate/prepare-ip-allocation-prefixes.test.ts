import { describe, expect, test } from '@jest/globals';
import type { PlannedStep } from '../../../../src/node/allocate/planned-step.ts';
import type { NetworkSupply } from '../../../../src/node/allocate/allocation-facts.ts';
import { prepareIPAllocation } from '../../../../src/node/allocate/prepare-ip-allocation.ts';
import { eni, facts, infrastructure, requirements, subnet, view } from '../allocation-facts.ts';
import { steps } from '../steps-in-short.ts';

const createdWithPrefixes: PlannedStep = {
  kind: 'createInterface',
  subnetId: 'subnet-1',
  securityGroupIds: [],
  deviceIndex: 1,
  count: 0,
  prefixCount: 2,
};
const delegated: PlannedStep = {
  kind: 'allocatePrefixes',
  interfaceId: 'eni-0',
  subnetId: 'subnet-1',
  count: 3,
};
const full = eni(0, 9);

describe('a plan for a node that gets prefixes', () => {
  const asked = requirements({ prefixDelegation: true });
  const withPrimary = requirements({ prefixDelegation: true, usePrimaryAddress: true });
  const fragmented = (...ids: string[]): Pick<NetworkSupply, 'maxPrefixes'> => ({
    maxPrefixes: (id) => (ids.includes(id) ? 0 : Infinity),
  });
  const prefixes = Array.from({ length: 9 }, (_, index) => `10.0.9.${index * 16}/28`);
  const two = { 'subnet-1': 200, 'subnet-2': 190 };

  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['requests 16 when one is wanted', { wanted: 1 }, ['eni-0+1x16']],
    ['requests as many as needed', { wanted: 17 }, ['eni-0+2x16']],
    ['requests none when nothing is wanted', { wanted: 0 }, []],
    [
      'puts prefixes into the free slots beside single addresses',
      { wanted: 40, view: view([eni(0, 7)]) },
      ['eni-0+2x16', 'new@1:subnet-1+1x16'],
    ],
    [
      'creates interfaces with prefixes',
      { wanted: 160, view: view([eni(0, 0, { prefixes })]), free: { 'subnet-1': 1000 } },
      ['new@1:subnet-1+9x16', 'new@2:subnet-1+1x16'],
    ],
    [
      'goes on with prefixes after single addresses',
      { wanted: 3, view: view([eni(0, 9), eni(1, 4)]) },
      ['eni-1+1x16'],
    ],
    [
      'counts what is in flight by 16, and the slots that it fills by one',
      { wanted: 150, stepsInFlight: [delegated], free: { 'subnet-1': 1000 } },
      ['eni-0+6x16', 'new@1:subnet-1+1x16'],
    ],
    [
      'counts a new interface with prefixes in flight',
      { wanted: 40, stepsInFlight: [createdWithPrefixes] },
      ['eni-0+1x16'],
    ],
    [
      'counts primary addresses when pods may have them',
      { wanted: 34, view: view([full]), requirements: withPrimary },
      ['new@1:subnet-1+3x16'],
    ],
    [
      'creates no interface for a primary address only',
      { wanted: 1, view: view([full]), requirements: withPrimary },
      ['new@1:subnet-1+1x16'],
    ],
  ])('%s', (_, change, expected) => {
    expect(steps({ requirements: asked, ...change })).toEqual(expected);
  });

  test.each<[string, number, number, readonly string[]]>([
    ['whole prefixes and the rest as single addresses', 38, 38, ['eni-0+2x16', 'eni-0+6']],
    ['the rest only as far as it is wanted', 20, 30, ['eni-0+1x16', 'eni-0+4']],
    ['a prefix that just fits', 1, 16, ['eni-0+1x16']],
    ['no prefix that does not', 1, 15, ['eni-0+1']],
    ['no more than the limit, whatever is wanted', 99, 7, ['eni-0+7']],
    ['nothing when the limit is zero', 5, 0, []],
    ['nothing when the limit is exceeded', 5, -3, []],
  ])('fills up to the limit with %s', (_, wanted, max, expected) => {
    expect(steps({ requirements: asked, wanted, max })).toEqual(expected);
  });

  test('counts what is in flight towards the limit', () => {
    const change = { requirements: asked, wanted: 60, max: 54, stepsInFlight: [delegated] };

    expect(steps(change)).toEqual(['eni-0+6']);
  });

  test('counts the primary address of a new interface towards the limit', () => {
    const change = { requirements: withPrimary, wanted: 16, max: 16, view: view([full]) };

    expect(steps(change)).toEqual(['new@1:subnet-1+9', 'new@2:subnet-1+5']);
  });

  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    ['goes to another subnet', { wanted: 8, free: two, ...fragmented('subnet-1') }, ['new@1:subnet-2+1x16']],
    [
      'takes single addresses when all are',
      { wanted: 8, free: two, ...fragmented('subnet-1', 'subnet-2') },
      ['eni-0+8'],
    ],
    [
      'takes single addresses when no slot is left for another interface',
      {
        wanted: 30,
        view: view([eni(0, 0, { prefixes }), eni(1, 5), eni(2, 9)]),
        free: two,
        ...fragmented('subnet-1'),
      },
      ['eni-1+4'],
    ],
    [
      'creates interfaces with single addresses only then',
      { wanted: 12, free: { 'subnet-1': 60, 'subnet-2': 10 }, ...fragmented('subnet-1', 'subnet-2') },
      ['eni-0+9', 'new@1:subnet-1+3'],
    ],
    [
      'goes to no subnet in another zone',
      {
        wanted: 8,
        infrastructure: infrastructure([subnet('subnet-1'), subnet('subnet-2', { zone: 'us-west-1b' })]),
        free: two,
        ...fragmented('subnet-1'),
      },
      ['eni-0+8'],
    ],
    [
      'goes to no subnet that the node does not select',
      {
        wanted: 8,
        requirements: requirements({ prefixDelegation: true, subnetIds: ['subnet-1'] }),
        free: two,
        ...fragmented('subnet-1'),
      },
      ['eni-0+8'],
    ],
    [
      'clamps single addresses to the slots that prefixes leave',
      { wanted: 30, view: view([eni(0, 2, { prefixes: prefixes.slice(0, 5) })]), ...fragmented('subnet-1') },
      ['eni-0+2', 'new@1:subnet-1+9', 'new@2:subnet-1+9'],
    ],
  ])('meets a fragmented subnet and %s', (_, change, expected) => {
    expect(steps({ requirements: asked, ...change })).toEqual(expected);
  });

  const upTo = (max: Readonly<Record<string, number>>): Pick<NetworkSupply, 'maxPrefixes'> => ({
    maxPrefixes: (id) => max[id] ?? Infinity,
  });
  const wide = { 'subnet-1': 900, 'subnet-2': 800 };

  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    [
      'is asked for fewer at once, in several calls',
      { wanted: 144, free: { 'subnet-1': 900 }, ...upTo({ 'subnet-1': 4 }) },
      ['eni-0+4x16', 'eni-0+4x16', 'eni-0+1x16'],
    ],
    [
      'comes after subnets that refused nothing',
      { wanted: 144, free: wide, ...upTo({ 'subnet-1': 4 }) },
      ['new@1:subnet-2+9x16'],
    ],
    [
      'gets interfaces with fewer',
      { wanted: 144, view: view([full]), free: { 'subnet-1': 900 }, ...upTo({ 'subnet-1': 4 }) },
      ['new@1:subnet-1+4x16', 'new@2:subnet-1+4x16'],
    ],
    [
      'comes before single addresses of another one',
      { wanted: 20, free: wide, ...upTo({ 'subnet-1': 1, 'subnet-2': 0 }) },
      ['eni-0+1x16', 'eni-0+1x16'],
    ],
  ])('meets a subnet that refused more prefixes than that: it %s', (_, change, expected) => {
    expect(steps({ requirements: asked, ...change })).toEqual(expected);
  });

  test.each<[string, Parameters<typeof facts>[0], readonly string[]]>([
    [
      'one prefix if it has 15: it may have more for prefixes',
      { wanted: 40, free: { 'subnet-1': 15 } },
      ['eni-0+1x16'],
    ],
    ['one prefix if it has none', { wanted: 40, free: { 'subnet-1': 0 } }, ['eni-0+1x16']],
    [
      'no prefix if it has 15 and refused one',
      { wanted: 8, free: { 'subnet-1': 15 }, ...fragmented('subnet-1') },
      ['eni-0+8'],
    ],
    ['a prefix if it has 16', { wanted: 8, free: { 'subnet-1': 16 } }, ['eni-0+1x16']],
    [
      'nothing if another one has more',
      { wanted: 8, free: { 'subnet-1': 15, 'subnet-2': 90 } },
      ['new@1:subnet-2+1x16'],
    ],
    [
      'one prefix for a new interface, which needs a primary address as well',
      { wanted: 8, view: view([full]), free: { 'subnet-1': 16 } },
      ['new@1:subnet-1+1x16'],
    ],
    [
      'no prefix for a new interface that gets no primary address',
      { wanted: 8, view: view([full]), free: { 'subnet-1': 0 } },
      [],
    ],
    [
      'as many prefixes as it has, and single addresses for the rest',
      { wanted: 60, free: { 'subnet-1': 40 } },
      ['eni-0+2x16', 'eni-0+7'],
    ],
  ])('takes from a subnet with few addresses %s', (_, change, expected) => {
    expect(steps({ requirements: asked, ...change })).toEqual(expected);
  });

  test.each([
    ['its type cannot carry them', { limits: { ...facts().limits, prefixes: false }, requirements: asked }],
    ['it is not to have them', { requirements: requirements() }],
  ])('gets single addresses when %s', (_, change) => {
    expect(steps({ wanted: 20, ...change })).toEqual(['eni-0+9', 'new@1:subnet-1+9', 'new@2:subnet-1+2']);
  });

  test('names the obstacle for the last single address', () => {
    const change = { requirements: asked, wanted: 60, free: { 'subnet-1': 40 } };

    expect(prepareIPAllocation(facts(change))).toMatchObject({
      unmet: 21,
      obstacle: { kind: 'subnetsExhausted', subnetIds: ['subnet-1'] },
    });
  });
});
