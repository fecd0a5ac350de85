import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { Change, Holdings } from '../../../../src/agent/ipam/holdings.ts';
import { AddressRecord } from '../../../../src/agent/record/address-record.ts';
import { openState } from '../../../../src/agent/record/state-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'headwater-record-'));
let directory: string;
let count = 0;

beforeEach(() => {
  directory = join(root, String(count++));
  mkdirSync(directory);
});
afterAll(() => rmSync(root, { recursive: true }));

const owner = { boot: 'b', node: 'n' };

function open(path = directory): { record: AddressRecord; holdings: Holdings } {
  const opened = AddressRecord.open(path, owner);
  if (opened.kind !== 'open') throw new Error(opened.problem);
  return opened;
}

function write(opened: ReturnType<typeof open>, change: Change): void {
  expect(opened.record.write(change)).toBeUndefined();
  opened.holdings.apply(change);
}

const state = (holdings: Holdings): unknown => ({
  held: [...holdings.held()].toSorted((a, b) => (a.ip < b.ip ? -1 : 1)),
  attachments: [...holdings.attachments()].toSorted((a, b) => (a.container < b.container ? -1 : 1)),
  blocks: holdings.blocks,
  pools: holdings.pools,
  leaving: holdings.leaving,
});

const hold = (ip: string): Change => ({ hold: [{ pool: 'default', ip, owner: 'x' }] });

describe('a record', () => {
  test('has after a restart what it had before, with a snapshot or without', () => {
    const ip = fc.integer({ min: 1, max: 9 }).map((last) => `10.0.0.${last}`);
    const container = fc.constantFrom('a', 'b', 'c');
    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.tuple(ip, container, fc.boolean()).map(([at, owner, timed]) => ({
        hold: [{ pool: 'p', ip: at, owner, ...(timed && { expiry: { uuid: 'u', at: 7, timeout: 9 } }) }],
        attach: {
          network: 'n',
          container: owner,
          interface: 'e',
          owner,
          since: 5,
          places: [{ pool: 'p', ip: at }],
        },
      })),
      fc.tuple(ip, container).map(([at, name]) => ({
        free: [{ pool: 'p', ip: at }],
        detach: [{ network: 'n', container: name, interface: 'e' }],
      })),
      ip.map((base) => ({ blocks: { ipv4: `${base}/24` } })),
      ip.map((base) => ({
        pools: [
          {
            pool: 'p',
            families: ['ipv4'] as const,
            blocks: [{ cidr: `${base}/32`, allowsFirst: true, allowsLast: false, details: { mac: 'm' } }],
          },
        ],
        leaving: { version: '7', blocks: [`p ${base}/32`] },
      })),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(change, fc.boolean()), { maxLength: 30 }), (changes) => {
        const own = mkdtempSync(join(root, 'p-'));
        let opened = open(own);
        for (const [each, restarts] of changes) {
          write(opened, each);
          if (restarts) opened.record.snapshot();
          if (!restarts) continue;
          const before = state(opened.holdings);
          opened.record.close();
          opened = open(own);
          expect(state(opened.holdings)).toEqual(before);
        }
        const before = state(opened.holdings);
        opened.record.close();
        opened = open(own);
        opened.record.close();
        expect(state(opened.holdings)).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });

  test('that ended between the snapshot and the end of its journal has lost nothing', () => {
    const opened = open();
    write(opened, hold('10.0.0.1'));
    write(opened, { free: [{ pool: 'default', ip: '10.0.0.1' }] });
    write(opened, hold('10.0.0.2'));
    const journal = readFileSync(join(directory, 'journal'));
    opened.record.snapshot();
    opened.record.close();
    writeFileSync(join(directory, 'journal'), journal);

    expect([...open().holdings.held()].map(({ ip }) => ip)).toEqual(['10.0.0.2']);
  });

  test('cuts off a last line without an end, and goes on behind it', () => {
    const first = open();
    write(first, hold('10.0.0.1'));
    first.record.close();
    appendFileSync(join(directory, 'journal'), '{"hold":[{"pool":"default","ip":"10.0');

    const second = open();
    write(second, hold('10.0.0.2'));
    second.record.close();

    expect([...open().holdings.held()].map(({ ip }) => ip)).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  test.each([
    ['journal', 'x\n'],
    ['journal', '{"hold":[{"pool":"default","ip":7,"owner":"x"}]}\n'],
    ['journal', '{"unknown":1}\n'],
    ['journal', '[]\n'],
    ['journal', '{"pools":[{"pool":"p","families":["ipv4"],"blocks":[{"cidr":"10.0.0.0/24"}]}]}\n'],
    ['snapshot', '{"headwater":"addresses","version":1}\n{"blocks":{}}\n'],
    ['snapshot', '{"headwater":"addresses","version":2}\n{"headwater":"end"}\n'],
  ])('is damaged if its %s holds %j', (file, text) => {
    writeFileSync(join(directory, file), text);

    expect(AddressRecord.open(directory, owner)).toEqual({
      kind: 'damaged',
      problem: `${join(directory, file)} is damaged`,
    });
  });

  test('makes a snapshot of a long journal', () => {
    const opened = open();
    for (let round = 0; round < 3000; round++) {
      write(opened, hold(`10.0.0.${round % 200}`));
    }
    const lines = readFileSync(join(directory, 'journal'), 'utf8').split('\n').length;

    expect(lines).toBeLessThan(2000);
    expect(existsSync(join(directory, 'snapshot'))).toBe(true);
    opened.record.close();
    expect(open().holdings.size).toBe(200);
  });

  test('says why a change cannot be written', () => {
    const opened = open();
    opened.record.close();

    expect(opened.record.write(hold('10.0.0.1'))).toContain(`cannot write ${join(directory, 'journal')}`);
  });
});

describe('a journal with bytes that are no text', () => {
  test('is damaged', () => {
    const opened = open();
    write(opened, hold('10.0.0.1'));
    opened.record.close();
    const path = join(directory, 'journal');
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('"x"') + 1] = 0xff;
    writeFileSync(path, bytes);

    expect(AddressRecord.open(directory, owner).kind).toBe('damaged');
    expect(readFileSync(path)).toEqual(bytes);
  });
});

describe('the state directory', () => {
  const boots = ['1b4e28ba-2fa1-41d2-883f-0016d3cca427', '6ba7b810-9dad-41d1-80b4-00c04fd430c8'] as const;
  const bootIdFile = (): string => join(directory, 'boot_id');

  test('keeps the record of this boot, and removes those of earlier ones', () => {
    const path = join(directory, 'state');
    writeFileSync(bootIdFile(), `${boots[0]}\n`);
    const first = openState({ path, node: 'n', bootIdFile: bootIdFile() });
    if (first.kind !== 'open') throw new Error(first.problem);
    first.record.write(hold('10.0.0.1'));
    first.record.close();
    mkdirSync(join(path, 'of-someone-else'));

    const again = openState({ path, node: 'n', bootIdFile: bootIdFile() });
    writeFileSync(bootIdFile(), `${boots[1]}\n`);
    const later = openState({ path, node: 'n', bootIdFile: bootIdFile() });

    expect(again.kind === 'open' && again.holdings.size).toBe(1);
    expect(later.kind === 'open' && later.holdings.size).toBe(0);
    expect(boots.map((boot) => existsSync(join(path, boot)))).toEqual([false, true]);
    expect(existsSync(join(path, 'of-someone-else'))).toBe(true);
  });

  test.each([
    ['holds no boot id', 'x', 'holds no boot id'],
    ['is not there', undefined, 'ENOENT'],
  ])('is unusable if the file of the boot id %s', (_, text, problem) => {
    if (text !== undefined) writeFileSync(bootIdFile(), text);

    expect(openState({ path: join(directory, 'state'), node: 'n', bootIdFile: bootIdFile() })).toEqual({
      kind: 'unusable',
      problem: expect.stringContaining(problem),
    });
  });

  test('sets aside a record that is damaged, if its holdings can be learned again', () => {
    const path = join(directory, 'state');
    const own = join(path, boots[0]);
    writeFileSync(bootIdFile(), boots[0]);
    const damage = (): void => {
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, 'journal'), 'x\ny\n');
    };
    damage();
    expect(openState({ path, node: 'n', bootIdFile: bootIdFile() })).toMatchObject({ kind: 'damaged' });

    const rebuilding = (canRebuild = true): unknown => {
      const opened = openState({ path, node: 'n', bootIdFile: bootIdFile(), canRebuild });
      return opened.kind === 'open' ? opened.holdings.isRebuilding : opened.problem;
    };
    expect(rebuilding()).toBe(true);
    expect(readFileSync(join(`${own}.damaged`, 'journal'), 'utf8')).toBe('x\ny\n');
    expect(rebuilding()).toBe(true);
    damage();
    expect(rebuilding()).toBe(true);

    // Killed before there was a new record.
    rmSync(own, { recursive: true });
    expect(rebuilding(false)).toBe(`${own}.damaged is damaged`);
    expect(rebuilding()).toBe(true);

    const opened = openState({ path, node: 'n', bootIdFile: bootIdFile(), canRebuild: true });
    if (opened.kind !== 'open') throw new Error(opened.problem);
    opened.record.write({ rebuilding: false });
    opened.record.close();
    expect(rebuilding(false)).toBe(false);

    writeFileSync(bootIdFile(), boots[1]);
    expect(rebuilding()).toBe(false);
    expect(existsSync(`${own}.damaged`)).toBe(false);
  });

  test.each(['journal', 'snapshot'])(
    'keeps of a damaged %s the gateways, and what it still says of containers that live',
    (file) => {
      const path = join(directory, 'state');
      writeFileSync(bootIdFile(), boots[0]);
      const open = (): Extract<ReturnType<typeof openState>, { kind: 'open' }> => {
        const lives = (netns: string): boolean => netns !== '/n/gone';
        const opened = openState({ path, node: 'n', bootIdFile: bootIdFile(), canRebuild: true, lives });
        if (opened.kind !== 'open') throw new Error(opened.problem);
        return opened;
      };
      const attachment = (
        container: string,
        netns: string | undefined,
        ...ips: readonly string[]
      ): Change => {
        const places = ips.map((ip) => ({ pool: 'main', ip }));
        const name = { network: 'pods', container, interface: 'eth0' };
        const attach = { ...name, owner: `o-${container}`, since: 1, places, ...(netns && { netns }) };
        return { hold: places.map((place) => ({ ...place, owner: `o-${container}` })), attach };
      };
      const first = open();
      for (const change of [
        { routers: { '10.0.0.0/24': '10.0.0.3' } },
        attachment('kept', '/n/kept', '10.0.0.5', 'fd00::5'),
        attachment('damaged', '/n/damaged', '10.0.0.6'),
        attachment('gone', '/n/gone', '10.0.0.7'),
        attachment('unseen', undefined, '10.0.0.8'),
        // The line that releases it is lost, too.
        attachment('earlier', '/n/earlier', '10.0.0.9'),
        attachment('later', '/n/later', '10.0.0.9'),
        { hold: [{ pool: 'main', ip: '10.0.0.10', owner: 'of REST' }] },
      ]) {
        first.record.write(change);
        first.holdings.apply(change);
      }
      if (file === 'snapshot') first.record.snapshot();
      first.record.close();
      const damaged = join(path, boots[0], file);
      writeFileSync(damaged, readFileSync(damaged, 'utf8').replaceAll('/n/damaged', '/n/xxxxxxx'));

      for (const { record, holdings } of [open(), open()]) {
        record.close();
        expect(holdings.isRebuilding).toBe(true);
        expect(holdings.routers).toEqual({ '10.0.0.0/24': '10.0.0.3' });
        expect([...holdings.attachments()].map(({ container }) => container)).toEqual(['kept', 'later']);
        expect([...holdings.held()].map(({ ip, owner }) => `${ip} ${owner}`)).toEqual([
          '10.0.0.5 o-kept',
          'fd00::5 o-kept',
          '10.0.0.9 o-later',
        ]);
      }
    },
  );

  test('is unusable if it is a file', () => {
    writeFileSync(bootIdFile(), boots[0]);
    writeFileSync(join(directory, 'state'), '');

    expect(openState({ path: join(directory, 'state'), node: 'n', bootIdFile: bootIdFile() })).toMatchObject({
      kind: 'unusable',
    });
  });
});
