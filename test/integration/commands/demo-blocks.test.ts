import { afterAll, describe, expect, test } from '@jest/globals';
import { blocksOf, commandsIn } from '../../support/documented-commands.ts';
import { Child, endAll } from './child.ts';

afterAll(endAll);

/** The demonstrations that the page names. */
const documented = blocksOf('docs/cidr-modes.md')
  .flatMap(({ text }) => commandsIn(text))
  .filter((words) => words[1] === 'demo')
  .map((words) => words.slice(1));

describe('the demonstration of blocks', () => {
  test.concurrent.each(documented.map((words) => [words.join(' '), words] as const))(
    'ends well: %s',
    async (_, words) => {
      const child = new Child([...words]);

      const { code, out } = await child.ended;

      expect(code).toBe(0);
      expect(out).toMatch(/nodes wait, node-/);
      expect(out).toMatch(/nodes use \d+ blocks, none of them shared, and no block has changed/);
    },
  );

  test('is refused for another mode', async () => {
    const { code, err } = await new Child(['demo', '--ipam=azure']).ended;

    expect(code).toBe(2);
    expect(err).toBe(
      'headwater demo: --ipam is "azure"; accepted: eni, cluster-pool, multi-pool, nodeipam\n',
    );
  });
});
