import { afterAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DeleteQueue, replayDeletes, replayRest } from '../../../../src/agent/cni/delete-queue.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { AgentRig, environment } from '../agent-rig.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-queue-'));
afterAll(() => rmSync(root, { recursive: true }));

const call = JSON.stringify({
  env: { ...environment, CNI_COMMAND: 'DEL' },
  stdin: '{"cniVersion":"1.1.0","name":"pods"}',
});

function fileOf(text: string): string {
  const path = join(mkdtempSync(join(root, 'one-')), `${'a'.repeat(64)}.delete`);
  writeFileSync(path, text);
  return path;
}

const queueAt = (directory: string, socketName = 'agent.sock'): DeleteQueue => ({ directory, socketName });

describe('a DEL in the queue', () => {
  test.each([
    ['stdin without a socket', '', 'other.sock'],
    ['the socket of another', ',\\"ipam\\":{\\"socket\\":\\"/run/other.sock\\"}', 'agent.sock'],
  ])('is left to the agent that it is for, by %s', async (_, ipam, socketName) => {
    const path = fileOf(call.replace('\\"pods\\"', `\\"pods\\"${ipam}`));
    const [rig, log] = [new AgentRig(), recordingLogger()];
    await rig.call('ADD');

    expect(await replayDeletes(queueAt(dirname(path), socketName), rig.answerer, log)).toHaveProperty(
      'size',
      0,
    );
    expect(existsSync(path)).toBe(true);
    expect([...rig.ipam.holdings.held()]).toHaveLength(1);

    const own = socketName === 'agent.sock' ? 'other.sock' : 'agent.sock';
    await replayDeletes(queueAt(dirname(path), own), rig.answerer, log);
    expect(existsSync(path)).toBe(false);
    expect([...rig.ipam.holdings.held()]).toEqual([]);
    expect(log.lines).toEqual([]);
  });

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

    await replayDeletes(queueAt(root), rig.answerer, log);

    expect(log.lines).toMatchObject([{ level: 'warn', details: { path: stuck } }]);
    expect([stuck, other].map((path) => existsSync(path))).toEqual([true, false]);
  });

  test('that meets a full disk is replayed until it is done', async () => {
    const path = fileOf(call);
    const directory = dirname(path);
    const rig = new AgentRig();
    await rig.call('ADD');
    rig.recordProblem = 'the disk is full';
    const log = recordingLogger();
    const parts = { answerer: rig.answerer, clock: rig.clock, log };

    const told = await replayDeletes(queueAt(directory), rig.answerer, log);
    const stop = new AbortController();
    const replays = replayRest(queueAt(directory), parts, stop.signal, told);
    await rig.clock.advance(60_000);
    expect([...rig.ipam.holdings.held()]).toHaveLength(1);
    expect(log.lines).toHaveLength(1);
    rig.recordProblem = undefined;
    await rig.clock.advance(60_000);
    stop.abort();
    await replays;

    expect([...rig.ipam.holdings.held()]).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ['network', call.replace('pods', '//')],
    ['container', call.replace('c1', '/')],
  ])('whose %s the agent refuses leaves the queue with a line in the log', async (_, text) => {
    const [path, log] = [fileOf(text), recordingLogger()];

    expect(await replayDeletes(queueAt(dirname(path)), new AgentRig().answerer, log)).toHaveProperty(
      'size',
      1,
    );
    expect(existsSync(path)).toBe(false);
    expect(log.lines).toMatchObject([{ level: 'warn', details: { path } }]);
  });
});

describe('a file in the queue', () => {
  test('that is a pipe stops nothing', async () => {
    const path = fileOf('');
    rmSync(path);
    spawnSync('mkfifo', [path]);
    const log = recordingLogger();

    await replayDeletes(queueAt(dirname(path)), new AgentRig().answerer, log);

    expect(log.lines).toMatchObject([{ details: { path, problem: 'it is no small regular file' } }]);
  });

  test.each(['{', call.replace('DEL', 'ADD')])('that holds no DEL is logged, and stays: %s', async (text) => {
    const [path, log] = [fileOf(text), recordingLogger()];

    expect(await replayDeletes(queueAt(dirname(path)), new AgentRig().answerer, log)).toHaveProperty(
      'size',
      1,
    );
    expect(existsSync(path)).toBe(true);
    expect(log.lines).toMatchObject([{ level: 'warn', details: { path } }]);
  });
});
