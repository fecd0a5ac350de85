import { expect, test } from '@jest/globals';
import { known, unknown } from '../../../../src/commands/check/fact.ts';
import { scoped } from '../../../../src/commands/check/scope-findings.ts';
import { optionsOf } from '../../../support/given-options.ts';

const labelled = (name: string, network: string): { metadata: object } => ({
  metadata: { name, labels: { network } },
});

test.each([
  [
    known([labelled('a', 'eni'), labelled('b', 'blocks')]),
    'ok',
    'network=eni chooses 1 Node (a), and leaves 1 to others',
  ],
  [known([labelled('b', 'blocks')]), 'warning', 'network=eni chooses no Node'],
  [
    unknown('answered 503'),
    'unknown',
    'Nodes cannot be read, so it is not known which of them network=eni chooses: answered 503',
  ],
])('the choice of a selector among %j is %s', (nodes, verdict, found) => {
  const options = optionsOf({ 'node-selector': 'network=eni' });
  const { findings } = scoped({ nodes: nodes as never, ciliumNodes: known([]) }, known([]), options);

  expect(findings).toMatchObject([{ what: 'node-selector', verdict, found }]);
});
