import { afterAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DeleteQueue } from '../../../../src/agent/cni/delete-queue.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import type { CniAnswer } from '../../../../src/agent/cni/answerer.ts';
import { AgentRig, environment, printed } from '../agent-rig.ts';

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

function queueAt(
  directory: string,
  { answerer }: AgentRig,
  log: ReturnType<typeof recordingLogger>,
  socketName = 'agent.sock',
): DeleteQueue {
  return new DeleteQueue({ directory, socketName }, answerer, log);
}

describe('a DEL in the queue', () => {
  test.each([
    ['stdin without a socket', '', 'other.sock'],
    ['the socket of another', ',\\"ipam\\":{\\"socket\\":\\"/run/other.sock\\"}', 'agent.sock'],
  ])('is left to the agent that it is for, by %s', async (_, ipam, socketName) => {
    const path = fileOf(call.replace('\\"pods\\"', `\\"pods\\"${ipam}`));
    const [rig, log] = [new AgentRig(), recordingLogger()];
    await rig.call('ADD');

    await queueAt(dirname(path), rig, log, socketName).replay();
    expect(log.lines).toEqual([]);
    expect(existsSync(path)).toBe(true);
    expect([...rig.ipam.holdings.held()]).toHaveLength(1);

    const own = socketName === 'agent.sock' ? 'other.sock' : 'agent.sock';
    await queueAt(dirname(path), rig, log, own).replay();
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

    await queueAt(root, rig, log).replay();

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
    const queue = queueAt(directory, rig, log);

    await queue.replay();
    const stop = new AbortController();
    const replays = queue.run(rig.clock, stop.signal);
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

    await queueAt(dirname(path), new AgentRig(), log).replay();

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

    await queueAt(dirname(path), new AgentRig(), log).replay();

    expect(log.lines).toMatchObject([{ details: { path, problem: 'it is no small regular file' } }]);
  });

  test.each(['{', call.replace('DEL', 'ADD')])('that holds no DEL is logged, and stays: %s', async (text) => {
    const [path, log] = [fileOf(text), recordingLogger()];

    await queueAt(dirname(path), new AgentRig(), log).replay();

    expect(existsSync(path)).toBe(true);
    expect(log.lines).toMatchObject([{ level: 'warn', details: { path } }]);
  });
});

describe('an ADD', () => {
  const add = (more: object = {}) => {
    const { env, stdin } = JSON.parse(call) as { readonly env: object; readonly stdin: string };
    return { env: { ...env, CNI_COMMAND: 'ADD', ...more }, stdin };
  };
  const never = new AbortController().signal;
  const addressIn = (answer: CniAnswer): unknown => printed(answer)['ips'];

  test.each([true, false])(
    'comes after the DEL of its interface that waits, which releases nothing of it later; held before: %s',
    async (wasHeld) => {
      const [path, rig, log] = [fileOf(call), new AgentRig(), recordingLogger()];
      if (wasHeld) await rig.call('ADD');
      const before = rig.held;
      const queue = queueAt(dirname(path), rig, log);

      const answer = await queue.answer(add(), never);
      expect(existsSync(path)).toBe(false);
      const { held } = rig;
      expect(held).toHaveLength(1);
      expect(held).not.toEqual(before);
      expect(addressIn(answer)).toMatchObject([{ address: `${held[0]}/24` }]);
      await queue.replay();

      expect(rig.held).toEqual(held);
    },
  );

  test.each([{ CNI_CONTAINERID: 'c2' }, { CNI_IFNAME: 'eth1' }])(
    'of another interface leaves the DEL in the queue: %j',
    async (more) => {
      const [path, rig] = [fileOf(call), new AgentRig()];
      const queue = queueAt(dirname(path), rig, recordingLogger());

      for (let round = 0; round < 2; round++) expect((await queue.answer(add(more), never)).exit).toBe(0);

      expect(existsSync(path)).toBe(true);
    },
  );

  test('fails while the DEL of its interface cannot be done', async () => {
    const [path, rig] = [fileOf(call), new AgentRig()];
    await rig.call('ADD');
    rig.recordProblem = 'the disk is full';

    const answer = await queueAt(dirname(path), rig, recordingLogger()).answer(add(), never);

    expect(printed(answer)).toMatchObject({ cniVersion: '1.1.0', code: 11 });
    expect(printed(answer)['msg']).toMatch(/^a DEL of this container waits in .*: .*the disk is full/);
    expect(existsSync(path)).toBe(true);
  });

  test('is given no DEL that is for another agent', async () => {
    const [path, rig] = [fileOf(call), new AgentRig()];
    await rig.call('ADD');
    const before = rig.held;

    await queueAt(dirname(path), rig, recordingLogger(), 'other.sock').answer(add(), never);

    expect(rig.held).toEqual(before);
    expect(existsSync(path)).toBe(true);
  });
});
