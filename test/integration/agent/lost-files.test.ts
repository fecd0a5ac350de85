// Files of an agent that disappear while it serves, on the disk.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lostFile } from '../../../src/agent/agent.ts';
import type { Api } from '../../../src/agent/rest/api.ts';
import { ApiServer } from '../../../src/agent/rest/api-server.ts';
import { AddressRecord } from '../../../src/agent/record/address-record.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'headwater-lost-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function open(): Extract<ReturnType<typeof AddressRecord.open>, { kind: 'open' }> {
  const opened = AddressRecord.open(directory, { boot: 'b', node: 'n' });
  if (opened.kind !== 'open') throw new Error(opened.problem);
  return opened;
}

describe('a socket', () => {
  test.each([false, true])(
    'that is removed is noticed; another agent has made one: %s',
    async (isReplaced) => {
      const path = join(directory, 'agent.sock');
      const parts = { api: {} as Api, path, clock: new VirtualClock(), log: recordingLogger() };
      const servers = [new ApiServer(parts), new ApiServer(parts)];
      const [server, other] = servers;
      await server?.listen();
      expect(server?.lost()).toBeUndefined();

      rmSync(path);
      if (isReplaced) await other?.listen();

      expect(server?.lost()).toBe(`the socket ${path} was removed`);
      for (const each of isReplaced ? servers : servers.slice(0, 1)) await each.close();
    },
  );
});

describe('a state directory', () => {
  test('that is removed is noticed within a minute, and has what is held for the next agent', async () => {
    const clock = new VirtualClock();
    const { record, holdings } = open();
    const change = { hold: [{ pool: 'default', ip: '10.0.0.7', owner: 'x' }] };
    record.write(change);
    holdings.apply(change);
    const lost = lostFile([() => record.lost()], clock, new AbortController().signal);
    await clock.advance(60_000);

    rmSync(directory, { recursive: true });
    await clock.advance(60_000);

    expect(await lost).toBe(`${join(directory, 'journal')} was removed: what is held is in a new one`);
    record.close();
    const next = open();
    expect([...next.holdings.held()]).toEqual(change.hold);
    next.record.close();
  });

  test('that was removed, and is used by another agent since, stays as that has it', () => {
    const first = open();
    const change = (ip: string) => ({ hold: [{ pool: 'default', ip, owner: 'x' }] });
    first.record.write(change('10.0.0.7'));
    first.holdings.apply(change('10.0.0.7'));
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    const second = open();
    second.record.write(change('10.0.0.8'));

    expect(first.record.lost()).toBe(`${join(directory, 'journal')} was replaced by another agent`);
    first.record.close();
    second.record.close();
    const next = open();
    expect([...next.holdings.held()].map(({ ip }) => ip)).toEqual(['10.0.0.8']);
    next.record.close();
  });

  test('whose snapshot alone was removed has a new one', () => {
    const { record, holdings } = open();
    const change = { hold: [{ pool: 'default', ip: '10.0.0.7', owner: 'x' }] };
    record.write(change);
    holdings.apply(change);
    rmSync(join(directory, 'snapshot'));

    expect(record.lost()).toBeUndefined();
    record.close();
    const next = open();
    expect([...next.holdings.held()]).toEqual(change.hold);
    next.record.close();
  });

  test('that is there loses nothing until the agent stops', async () => {
    const clock = new VirtualClock();
    const { record } = open();
    const stop = new AbortController();
    const lost = lostFile([() => record.lost()], clock, stop.signal);
    await clock.advance(600_000);
    stop.abort();

    expect(await lost).toBeUndefined();
    record.close();
  });
});
