import { expect, test } from '@jest/globals';
import { chooseKinds } from '../../../../src/commands/plan/chosen-kinds.ts';
import { planNodes } from '../../../../src/commands/plan/plan.ts';
import { planningFactsIn } from '../../../../src/commands/plan/planning-facts.ts';
import { facts, kind, question, subnet } from './planned-facts.ts';

test('facts are read as they were reported, and what else there is does not matter', () => {
  const known = facts();

  expect(planningFactsIn(JSON.stringify({ ...known, later: true }))).toEqual(known);
});

test('text of a report cannot move the cursor of a terminal', () => {
  const read = planningFactsIn(JSON.stringify(facts({ subnets: [subnet('a\u001b[2J', 1)] })));

  expect(read?.subnets[0]?.id).toBe('a\\u001b[2J');
});

test.each<[string, object]>([
  ['no number free', { subnets: [{ ...subnet('a', 1), free: '1' }] }],
  ['a negative number free', { subnets: [subnet('a', -1)] }],
  ['part of an address', { subnets: [subnet('a', 1.5)] }],
  ['a rate limit without refill', { buckets: [{ action: 'a', tokens: 1, capacity: 1, refillPerSecond: 0 }] }],
  ['no subnets', { subnets: null }],
  ['no planning', { planning: undefined }],
  ['another way to get interfaces', { planning: { ...facts().planning, interfaces: 'bought' } }],
  ['an instance without interfaces', { planning: { ...facts().planning, kinds: [kind({ given: [] })] } }],
  [
    'an instance that holds more than memory does',
    {
      planning: {
        ...facts().planning,
        kinds: [kind({ limits: { interfaces: 1e9, addressesPerInterface: 1e9, prefixes: true } })],
      },
    },
  ],
])('a report is not taken with %s', (_, change) => {
  expect(planningFactsIn(JSON.stringify({ ...facts(), ...change }))).toBeUndefined();
});

test('the largest instances that a report may have are planned in the end', () => {
  const limits = { interfaces: 1024, addressesPerInterface: 10_000, prefixes: true };
  const known = planningFactsIn(
    JSON.stringify(facts({ subnets: [subnet('subnet-1', 1e9)], planning: { kinds: [kind({ limits })] } })),
  );
  if (known === undefined) throw new Error('no facts');
  const chosen = chooseKinds(question({ pods: undefined }), known.planning);

  expect('kinds' in chosen && planNodes(2, chosen.kinds, known)).toMatchObject({ fit: 2 });
});

test.each<[string, Parameters<typeof question>[0], string]>([
  ['a zone', { zones: ['us-west-1c'] }, 'no node has the zone "us-west-1c"; did you mean us-west-1a?'],
  ['a type', { type: 'm5.lrge' }, 'no node has the type "m5.lrge"; did you mean m5.large?'],
  [
    'a type like no other',
    { type: 'standard' },
    'no node has the type "standard"; there are nodes with m5.large',
  ],
  ['a subnet', { subnet: 'subnet-2' }, 'no node has the subnet "subnet-2"; did you mean subnet-1?'],
])('%s that no node has is answered with the nearest one', (_, asked, problem) => {
  expect(chooseKinds(question(asked), facts().planning)).toEqual({ problem });
});

test('without any node, nothing says how another one would be', () => {
  expect(chooseKinds(question({}), { kinds: [] })).toEqual({
    problem: 'no node is served yet, and new ones are planned like those that are there',
  });
});
