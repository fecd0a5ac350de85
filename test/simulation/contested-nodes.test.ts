import { describe, expect, test } from '@jest/globals';
import { ContestedNodes } from './contested-nodes.ts';

describe('a CiliumNode that a replica wrote', () => {
  test.each([
    ['while another one led, too, is contested', 'a', ['a', 'b'], true],
    ['as the only leader is not', 'a', ['a'], false],
    ['after it lost the lease is not', 'a', ['b'], false],
  ])('%s', (_, writer, leaders, isContested) => {
    const nodes = new ContestedNodes();

    nodes.written('node-1', writer, leaders);

    expect(nodes.isContested('node-1', 'b')).toBe(isContested);
    expect(nodes.isContested('node-1', 'a')).toBe(false);
    expect(nodes.isContested('node-2', 'b')).toBe(false);
  });
});
