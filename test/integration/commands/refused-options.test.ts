import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countsIn, kindIn } from '../../../src/config/option-scope.ts';
import {
  environmentNameOf,
  type OptionName,
  optionNames,
  optionTable,
} from '../../../src/config/option-table.ts';
import { plainValue } from '../../../src/network/untrusted-text.ts';
import { type Ended, endAll, headwater, linesOf, problemsOf } from './child.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-config-'));
});

afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

/** The text of each option, and its source. */
type Texts = readonly (readonly [name: OptionName, text: string])[];

interface Place {
  readonly run: (texts: Texts, folder: string) => Promise<Ended>;
  readonly words: (name: OptionName, folder: string) => string;
}

const places = {
  flag: {
    run: (texts) => headwater(['run', ...texts.map(([name, text]) => `--${name}=${text}`)]),
    words: (name) => `the flag --${name}`,
  },
  environment: {
    run: (texts) =>
      headwater(['run'], {
        environment: Object.fromEntries(texts.map(([name, text]) => [environmentNameOf(name), text])),
      }),
    words: (name) => `the environment variable ${environmentNameOf(name)}`,
  },
  directory: {
    run: async (texts, folder) => {
      await Promise.all(texts.map(([name, text]) => writeFile(join(folder, name), `${text}\n`)));
      return headwater(['run', '--config-dir', folder]);
    },
    words: (name, folder) => `the file ${join(folder, name)}`,
  },
} satisfies Record<string, Place>;

const placeNames = Object.keys(places) as (keyof typeof places)[];

const mayBeInDirectory = (name: OptionName): boolean => optionTable[name].fromConfigDir;

/** An option of each kind, with an invalid and a valid text. */
const kinds: readonly (readonly [OptionName, string, string])[] = [
  ['ipam', 'kubernetes', 'eni, azure, alibabacloud, cluster-pool, multi-pool'],
  ['enable-ipv4', 'false', 'true, because Headwater supplies IPv4 addresses'],
  ['debug', 'maybe', 'true or false'],
  ['resync-interval', '5', 'a duration from 10s to 24h as Go writes it (1m30s, 300ms)'],
  ['parallel-alloc-workers', '0', 'a whole number from 1 to 1000'],
  ['aws-max-results-per-call', '4', 'a whole number from 5 to 1000, or 0 for 1000'],
  ['limit-ipam-api-qps', '-1', 'a number greater than 0, such as 4 or 0.5'],
  ['cloud-quota-share', '1.1', 'a number greater than 0 and at most 1, such as 0.8'],
  ['vpc-id', 'main', 'vpc- and 8 or 17 hexadecimal digits'],
  [
    'subnet-ids-filter',
    'subnet-0123abcd,nodes',
    'ids of subnets or vSwitches, separated by commas or spaces',
  ],
  ['subnet-tags-filter', 'purpose', optionTable['subnet-tags-filter'].kind.accepts],
  [
    'eni-tags',
    'aws:owner=me',
    `${optionTable['subnet-tags-filter'].kind.accepts}; keys of at most 128 characters that do not begin with aws:, values of at most 256`,
  ],
  [
    'ec2-api-endpoint',
    'ftp://ec2',
    'a host name, with a port if need be, or an http or https URL without credentials and query',
  ],
  ['k8s-api-server', 'api.example', 'an http or https URL without credentials and query'],
  ['serve-addr', '9966', 'host:port or :port, such as :9966, 127.0.0.1:9966 or [::1]:9966'],
  ['log-level', 'loud', 'debug, info, warn, error'],
];

describe('a refused value', () => {
  test.each(placeNames)(
    'ends with exit code 2 and a line with option, place and accepted values, for each kind of option by %s',
    async (place) => {
      const folder = await mkdtemp(join(directory, 'kinds-'));
      const asked = kinds.filter(([name]) => place !== 'directory' || mayBeInDirectory(name));

      const ran = await places[place].run(
        asked.map(([name, text]) => [name, text]),
        folder,
      );

      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(problemsOf(ran).toSorted()).toEqual(
        asked
          .map(([name, text, accepted]) => {
            const from = places[place].words(name, folder);
            const shown = plainValue(text);
            const value = shown === undefined ? 'the value of' : `${JSON.stringify(shown)} from`;
            return `${name}: ${value} ${from} is refused; accepted: ${accepted}`;
          })
          .toSorted(),
      );
    },
  );

  test.each(placeNames)(
    'ends with a line for each option when every option is refused at once by %s',
    async (place) => {
      const folder = await mkdtemp(join(directory, 'all-'));
      const acceptsAnything: readonly OptionName[] = ['k8s-kubeconfig-path', 'config-dir', 'extra-ca-file'];
      const names = optionNames.filter(
        (name) =>
          countsIn('cloud', name) &&
          !acceptsAnything.includes(name) &&
          (place !== 'directory' || mayBeInDirectory(name)),
      );

      const { code, out, err } = await places[place].run(
        names.map((name) => [name, '{"']),
        folder,
      );

      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(problemsOf({ err })).toEqual(
        names.map((name) => {
          const from = places[place].words(name, folder);
          const { accepts } = kindIn('cloud', name);
          return `${name}: the value of ${from} is refused; accepted: ${accepts}`;
        }),
      );
      expect(names.length).toBeGreaterThan(20);
    },
  );

  test('ends with exit code 2 when options contradict each other', async () => {
    const { code, err } = await headwater(['run', '--leader-election-renew-deadline=15s']);

    expect(code).toBe(2);
    expect(problemsOf({ err })).toEqual([expect.stringContaining('leader-election-renew-deadline: "15s"')]);
  });

  test('ends with exit code 2 when it is a missing directory', async () => {
    const { code, err } = await headwater(['run', '--config-dir', join(directory, 'nowhere')]);

    expect(code).toBe(2);
    expect(problemsOf({ err })).toEqual([
      expect.stringMatching(/config-dir: ".*nowhere".*it does not exist/),
    ]);
  });
});

describe('a configuration directory that other programs use too', () => {
  test('passes on options for all, and neither keys of others nor keys of one process', async () => {
    const folder = await mkdtemp(join(directory, 'shared-'));
    const files = {
      'cluster-name': 'from-the-directory',
      'limit-ipam-api-qps': '4',
      'bpf-map-dynamic-size-ratio': '0.0025',
      'enable-ipv6': 'maybe',
      'serve-addr': 'no address',
      'k8s-namespace': 'No Namespace',
      'leader-election-lease-name': 'No Lease',
      'leader-election-lease-duration': 'short',
      'leader-election-renew-deadline': 'shorter',
      'leader-election-retry-period': 'shortest',
      'config-dir': '/nowhere',
    };
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));

    const { code, out, err } = await headwater(['run', '--config-dir', folder]);

    const [options, cap] = linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(options?.['options']).toEqual({
      'cluster-name': { value: 'from-the-directory', from: `the file ${folder}/cluster-name` },
      'limit-ipam-api-qps': { value: 4, from: `the file ${folder}/limit-ipam-api-qps` },
      'config-dir': { value: folder, from: 'the flag --config-dir' },
    });
    expect(cap).toMatchObject({
      level: 'warn',
      msg: 'all cloud calls together are capped',
      from: `the file ${folder}/limit-ipam-api-qps`,
    });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('found no cluster') });
  });
});
