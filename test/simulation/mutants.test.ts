import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { agentMutants } from './agent/agent-mutants.ts';
import { blockMutants } from './blocks/block-mutants.ts';
import { mutants } from './mutants.ts';

test.each([...mutants, ...blockMutants, ...agentMutants].map(({ name, edits }) => [name, edits] as const))(
  'each edit of the mutant applies in exactly one place: %s',
  (_, edits) => {
    const occurrences = edits.map(
      ({ file, from }) =>
        readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').split(from).length - 1,
    );

    expect(occurrences).toEqual(edits.map(() => 1));
  },
);
