import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { agentMutants } from './agent/agent-mutants.ts';
import { blockMutants, cloudMutants, poolMutants, syncMutants } from './blocks/block-mutants.ts';
import { mutants } from './mutants.ts';

const ofBlocks = [...blockMutants, ...poolMutants, ...syncMutants, ...cloudMutants];

test.each([...mutants, ...ofBlocks, ...agentMutants].map(({ name, edits }) => [name, edits] as const))(
  'each edit of the mutant applies in exactly one place: %s',
  (_, edits) => {
    const occurrences = edits.map(
      ({ file, from }) =>
        readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').split(from).length - 1,
    );

    expect(occurrences).toEqual(edits.map(() => 1));
  },
);
