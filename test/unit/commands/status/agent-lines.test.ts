import { describe, expect, test } from '@jest/globals';
import { agentLines, toldAgent } from '../../../../src/commands/status/agent-lines.ts';
import type { ShownAgent } from '../../../../src/commands/status/served-report.ts';

const pool = { pool: 'default', family: 'ipv4', cidrs: ['10.0.0.0/24'], capacity: 253, needed: 9 };
const well: ShownAgent = { node: 'a', mode: 'crd', attachments: 1, pools: [] };

function shown(agent: ShownAgent, width?: number): readonly string[] {
  return agentLines(agent, width).map(({ text }) => text);
}

describe('the lines of an agent', () => {
  test('say what it waits for, and why it gives no more', () => {
    const agent = { ...well, waitingFor: 'a range', problem: 'no space is left' };

    expect(shown(agent)).toEqual([
      'a: agent, crd',
      'waits for   a range',
      'problem     no space is left',
      'pods        1 interface with addresses',
    ]);
    expect(toldAgent('a', { json: '', report: agent }).isProblem).toBe(true);
    expect(toldAgent('a', { json: '', report: well })).toMatchObject({
      isProblem: false,
      unanswered: undefined,
    });
  });

  test('mark a pool without a free address', () => {
    const pools = [
      { ...pool, used: 253, available: 0 },
      { ...pool, pool: 'blue', used: 1, available: 252 },
    ];

    const lines = agentLines({ ...well, version: '1', pools }, undefined);

    expect(lines.map(({ text }) => text)).toEqual([
      'a: agent, crd, version 1',
      'pods        1 interface with addresses',
      '',
      'POOL     FAMILY  SIZE  USED  FREE  NEEDED  FROM',
      'default  ipv4     253   253     0       9  10.0.0.0/24',
      'blue     ipv4     253     1   252       9  10.0.0.0/24',
    ]);
    expect(lines.filter(({ style }) => style === 'bad').map(({ text }) => text.slice(0, 7))).toEqual([
      'default',
    ]);
  });

  test('fit a narrow terminal', () => {
    const lines = shown({ ...well, pools: [{ ...pool, used: 1, available: 252 }] }, 30);

    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(30);
    expect(lines.at(-1)).toBe('default  ipv4       1   252');
  });
});
