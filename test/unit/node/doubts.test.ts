import { describe, expect, test } from '@jest/globals';
import { unaddable } from '../../../src/node/doubts.ts';
import { networkInterface } from '../providers/interfaces.ts';
import type { Recollection } from '../../../src/providers/allocation-implementation.ts';
import { nodeOf } from './cilium-nodes.ts';
import { view } from './allocation-facts.ts';

const implementation = { statusKey: 'eni', recall };
const pooled = { '10.0.0.1': { resource: 'eni-1' } };

function recall(_: string, status: unknown): Recollection {
  const { enis = {} } = status as { enis?: Readonly<Record<string, { addresses: readonly string[] }>> };
  const interfaces = Object.entries(enis).map(([id, { addresses }]) => networkInterface({ id, addresses }));
  return { interfaces, subnets: new Map(), networks: new Map() };
}

describe('what may be gone already', () => {
  test.each([
    ['stays in both where both show it', { pool: pooled, enis: { 'eni-1': ['10.0.0.1'] } }, [], []],
    ['stays in the status where the pool alone shows it', { pool: pooled }, [], []],
    ['enters no pool from the status', { enis: { 'eni-1': ['10.0.0.1'] } }, ['10.0.0.1'], []],
    ['enters neither anew', {}, ['10.0.0.1'], ['10.0.0.1']],
  ])('%s', (_, parts, pool, status) => {
    const doubtful = { ...view([]), doubted: new Set(['10.0.0.1']) };

    const result = unaddable(doubtful, nodeOf(parts), implementation);

    expect({ pool: [...result.pool], status: [...result.status] }).toEqual({ pool, status });
  });

  test('counts with every address of a prefix', () => {
    const doubtful = { ...view([]), doubted: new Set(['10.0.0.16/28']) };

    const { pool } = unaddable(doubtful, nodeOf({}), implementation);

    expect(pool.size).toBe(16);
    expect(pool.has('10.0.0.31')).toBe(true);
  });
});
