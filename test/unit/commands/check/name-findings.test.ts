import { expect, test } from '@jest/globals';
import { known, unknown } from '../../../../src/commands/check/fact.ts';
import { nameFindings } from '../../../../src/commands/check/name-findings.ts';
import { ciliumConfigFindings } from '../../../../src/commands/check/settings-findings.ts';

const key = 'aws:eks:cluster-name';
const found = known({ kind: 'read', value: { kind: 'found', name: 'blue', instances: 2 } } as const);
const nothing = known({ kind: 'nothingToRead' } as const);

test('a name that is asked for and found is fine', () => {
  expect(nameFindings({ key, isAsked: true, read: found })).toEqual([
    { verdict: 'ok', what: 'cluster name', found: `blue, by the tag ${key} of 2 instances` },
  ]);
});

test('what nobody asks for is told only if there is a name', () => {
  const none = known({ kind: 'read', value: { kind: 'none', problem: 'no', remedy: 'yes' } } as const);

  const told = [none, nothing, unknown('no')].map((read) => nameFindings({ key, isAsked: false, read }));

  expect(told.flat()).toEqual([]);
  expect(nameFindings({ key, isAsked: false, read: found })).toMatchObject([
    { verdict: 'warning', remedy: `set --cluster-name=tag=${key}` },
  ]);
});

test('Nodes that cannot be read leave open whether there is a name', () => {
  expect(nameFindings({ key, isAsked: true, read: unknown('denied') })).toMatchObject([
    { verdict: 'unknown', found: 'Nodes cannot be read: denied' },
  ]);
});

test('agents are not compared with a name that is still to be read', () => {
  const options = { ipam: 'eni', clusterName: `tag=${key}` } as const;

  expect(ciliumConfigFindings({ 'cluster-name': 'green' }, options)).toEqual([]);
});
