import { describe, expect, test } from '@jest/globals';
import { loadOrRefuse, type Start } from '../../../src/commands/load-or-refuse.ts';
import { VirtualClock } from '../../../src/scheduling/virtual-clock.ts';

interface Started {
  readonly start: Start;
  readonly err: readonly string[];
  readonly log: readonly Readonly<Record<string, unknown>>[];
}

function load(
  flags: Readonly<Record<string, readonly string[]>>,
  environment: Readonly<Record<string, string>> = {},
): Started {
  const missing = (): never => {
    throw Object.assign(new Error('missing'), { code: 'ENOENT' });
  };
  const err: string[] = [];
  const log: string[] = [];
  const start = loadOrRefuse(new Map(Object.entries(flags)), {
    surroundings: { environment, readFile: missing, readDirectory: missing },
    clock: new VirtualClock(),
    err: (text) => err.push(text),
    logTo: { write: (line) => log.push(line) },
  });
  return { start, err, log: log.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('loadOrRefuse', () => {
  test('options that are refused end with exit code 2 and a line each', () => {
    const { start, err, log } = load({ 'vpc-id': ['x'], ipam: ['azure'] });

    expect(start).toEqual({ kind: 'refused', exitCode: 2 });
    expect(err).toEqual([
      'headwater run: ipam: "azure" from the flag --ipam is refused; accepted: eni\n',
      'headwater run: vpc-id: "x" from the flag --vpc-id is refused; accepted: vpc- and 8 or 17 hexadecimal digits\n',
    ]);
    expect(log).toEqual([]);
  });

  test('options that are accepted come with a log of their level', () => {
    const { start, err } = load({ 'log-level': ['error'] });

    expect(start).toMatchObject({ kind: 'go', options: { logLevel: 'error', parallelAllocWorkers: 50 } });
    expect(err).toEqual([]);
  });

  test('what was given, what does nothing and what costs is logged', () => {
    const { log } = load(
      { 'enable-metrics': ['true'], 'limit-ipam-api-qps': ['4'] },
      { CILIUM_CLUSTER_NAME: 'prod' },
    );

    expect(log).toMatchObject([
      {
        level: 'info',
        msg: 'options other than the defaults',
        options: {
          'cluster-name': { value: 'prod', from: 'the environment variable CILIUM_CLUSTER_NAME' },
          'limit-ipam-api-qps': { value: 4, from: 'the flag --limit-ipam-api-qps' },
        },
      },
      { level: 'info', msg: 'option has no effect', option: 'enable-metrics' },
      { level: 'warn', msg: 'all cloud calls together are capped', perSecond: 4, burst: 20 },
    ]);
  });

  test('the log is as loud as asked', () => {
    const flags = { 'limit-ipam-api-qps': ['4'], 'enable-metrics': ['true'], 'cluster-name': ['prod'] };
    const { log } = load({ ...flags, 'log-level': ['warn'] });

    expect(log.map(({ level }) => level)).toEqual(['warn']);
  });
});
