import { afterAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replayDeletes } from '../../../../src/agent/cni/delete-queue.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { AgentRig, environment } from '../agent-rig.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-queue-'));
afterAll(() => rmSync(root, { recursive: true }));

const call = JSON.stringify({
  env: { ...environment, CNI_COMMAND: 'DEL' },
  stdin: '{"cniVersion":"1.1.0","name":"pods"}',
});

describe('a DEL in the queue', () => {
  test('whose file cannot be removed is logged, and holds up neither the others nor the start', async () => {
    const [stuck, other] = ['a', 'b'].map((digit) => join(root, `${digit.repeat(64)}.delete`)) as [
      string,
      string,
    ];
    for (const path of [stuck, other]) writeFileSync(path, call);
    const rig = new AgentRig({
      onAnswer: () => {
        if (!existsSync(other)) return;
        rmSync(stuck, { recursive: true });
        mkdirSync(stuck);
      },
    });
    const log = recordingLogger();

    await replayDeletes(root, rig.answerer, log);

    expect(log.lines).toMatchObject([{ level: 'warn', details: { path: stuck } }]);
    expect([stuck, other].map((path) => existsSync(path))).toEqual([true, false]);
  });
});
