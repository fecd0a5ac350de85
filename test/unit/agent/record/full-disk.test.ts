// A record on a disk that other programs fill.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { AddressRecord } from '../../../../src/agent/record/address-record.ts';
import type { Disk } from '../../../../src/agent/record/reserve.ts';
import { AgentRig, blockOf, printed } from '../agent-rig.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-full-'));
let directory: string;
let count = 0;

beforeEach(() => {
  directory = join(root, String(count++));
  mkdirSync(directory);
});
afterAll(() => rmSync(root, { recursive: true }));

/** A disk that has only so much room for the directory; what does not fit is written in part. */
class SmallDisk implements Disk {
  room = Infinity;

  append(file: number, bytes: Buffer): number {
    const fitting = Math.min(this.#free, bytes.byteLength);
    if (fitting === 0) throw this.#full();
    return writeSync(file, bytes, 0, fitting);
  }

  write(path: string, bytes: Buffer): void {
    writeFileSync(path, '');
    const fitting = Math.min(this.#free, bytes.byteLength);
    writeFileSync(path, bytes.subarray(0, fitting));
    if (fitting < bytes.byteLength) throw this.#full();
  }

  get used(): number {
    return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  }

  get #free(): number {
    return Math.max(0, this.room - this.used);
  }

  #full(): Error {
    return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  }
}

function start(disk: SmallDisk): { readonly rig: AgentRig; readonly stop: () => void } {
  const opened = AddressRecord.open(directory, { boot: 'b', node: 'n' }, disk);
  if (opened.kind !== 'open') throw new Error(opened.problem);
  const { record, holdings } = opened;
  const rig = new AgentRig({ blocks: [], holdings, record });
  rig.ipam.serve(blockOf('10.0.0.0/24'));
  return { rig, stop: () => record.close() };
}

const of = (container: number) => ({ env: { CNI_CONTAINERID: `c${container}` } });

async function codeOf(rig: AgentRig, verb: string, options: object = {}): Promise<unknown> {
  const answer = await rig.call(verb, options);
  return answer.exit === 0 ? 0 : printed(answer)['code'];
}

describe('with a full disk', () => {
  test('an ADD fails and says why, STATUS answers 50, and a DEL and a GC succeed, also after a restart', async () => {
    const disk = new SmallDisk();
    const first = start(disk);
    for (const container of [1, 2, 3, 4]) expect(await codeOf(first.rig, 'ADD', of(container))).toBe(0);
    const { held } = first.rig;
    disk.room = disk.used;

    const refused = printed(await first.rig.call('ADD', of(5)));
    expect(refused).toMatchObject({ code: 11 });
    expect(refused['msg']).toBe(
      `cannot write ${join(directory, 'journal')}: ENOSPC: no space left on device, write; make room on the disk of ${directory}`,
    );
    expect(await codeOf(first.rig, 'STATUS')).toBe(50);
    expect(await codeOf(first.rig, 'DEL', of(1))).toBe(0);
    // What the reserve has left is for releases.
    expect(await codeOf(first.rig, 'ADD', of(5))).toBe(11);
    expect(await codeOf(first.rig, 'STATUS')).toBe(50);
    first.stop();

    const second = start(disk);
    expect(second.rig.held).toEqual(held.filter((ip) => second.rig.held.includes(ip)));
    expect(second.rig.held).toHaveLength(3);
    expect(await codeOf(second.rig, 'DEL', of(2))).toBe(0);
    const conf = { 'cni.dev/valid-attachments': [{ containerID: 'c3', ifname: 'eth0' }] };
    expect(await codeOf(second.rig, 'GC', { conf })).toBe(0);
    expect(await codeOf(second.rig, 'ADD', of(5))).toBe(11);
    second.stop();

    const third = start(disk);
    expect([...third.rig.ipam.holdings.attachments()].map(({ container }) => container)).toEqual(['c3']);
    third.stop();
  });

  test('the reserve is back as soon as there is room, and serves the next time', async () => {
    const disk = new SmallDisk();
    const { rig, stop } = start(disk);
    for (const container of [1, 2, 3]) await rig.call('ADD', of(container));
    for (const [container, verb] of [
      [1, 'ADD'],
      [2, 'STATUS'],
    ] as const) {
      const before = disk.used;
      disk.room = before;
      expect(await codeOf(rig, 'DEL', of(container))).toBe(0);
      expect(disk.used).toBeLessThan(before);

      disk.room = Infinity;
      expect(await codeOf(rig, verb, of(9))).toBe(0);
      expect(disk.used).toBeGreaterThan(before);
    }
    stop();
  });

  test('a part of the reserve, of a snapshot or of what tests for room is not left', async () => {
    const disk = new SmallDisk();
    disk.room = 5000;
    const { rig, stop } = start(disk);

    expect(await codeOf(rig, 'STATUS')).toBe(50);
    expect(await codeOf(rig, 'ADD', of(1))).toBe(11);
    expect(readdirSync(directory).toSorted()).toEqual(['journal', 'snapshot']);
    stop();
  });

  test('nothing is given twice, whenever it fills and whenever there is room', async () => {
    const disk = new SmallDisk();
    let { rig, stop } = start(disk);
    const given = new Map<string, string>();
    for (let round = 0; round < 400; round++) {
      disk.room = round % 7 < 3 ? disk.used + (round % 300) : Infinity;
      const container = `c${(round * 5) % 23}`;
      const options = { env: { CNI_CONTAINERID: container } };
      if (round % 3 === 0) {
        expect(await codeOf(rig, 'DEL', options)).toBe(0);
        given.delete(container);
      } else {
        const answer = await rig.call('ADD', options);
        const [ip] = (printed(answer)['ips'] ?? []) as readonly { readonly address: string }[];
        if (ip !== undefined) given.set(container, ip.address.replace('/24', ''));
      }
      if (round % 50 === 49) {
        stop();
        ({ rig, stop } = start(disk));
      }
      expect(new Set(given.values()).size).toBe(given.size);
      expect(rig.held).toEqual([...given.values()].toSorted());
    }
    stop();
  });
});

test('a failure that room would not mend names no room', () => {
  const opened = AddressRecord.open(directory, { boot: 'b', node: 'n' });
  if (opened.kind !== 'open') throw new Error(opened.problem);
  opened.record.close();

  expect(opened.record.write({ blocks: {} })).toBe(
    `cannot write ${join(directory, 'journal')}: EBADF: bad file descriptor, write`,
  );
});

test('the reserve takes its room on a disk that compresses, too', () => {
  start(new SmallDisk()).stop();

  const bytes = readFileSync(join(directory, 'reserve'));

  expect(deflateSync(bytes).byteLength).toBeGreaterThan(2 ** 20);
});
