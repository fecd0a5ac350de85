import { blockChecks } from '../../../src/blocks/settings/block-pools.ts';
import { describe, expect, test } from '@jest/globals';
import { loadOrRefuse, type Start } from '../../../src/commands/serving-command.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

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
    checks: blockChecks,
    processEnvironment: { environment, readFile: missing, readDirectory: missing },
    clock: new VirtualClock(),
    err: (text) => err.push(text),
    logTo: { write: (line) => log.push(line) },
  });
  return { start, err, log: log.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('loadOrRefuse', () => {
  test('ends with exit code 2 and a line for each refused option', () => {
    const { start, err, log } = load({ 'vpc-id': ['x'], ipam: ['crd'] });

    expect(start).toEqual({ kind: 'refused', exitCode: 2 });
    expect(err).toEqual([
      'headwater run: ipam: "crd" from the flag --ipam is refused; accepted: eni, azure, alibabacloud, cluster-pool, multi-pool\n',
      'headwater run: vpc-id: "x" from the flag --vpc-id is refused; accepted: vpc- and 8 or 17 hexadecimal digits\n',
    ]);
    expect(log).toEqual([]);
  });

  test('returns accepted options with a logger of their level', () => {
    const { start, err } = load({ 'log-level': ['error'] });

    expect(start).toMatchObject({ kind: 'go', options: { logLevel: 'error', parallelAllocWorkers: 50 } });
    expect(err).toEqual([]);
  });

  test('logs options that are set, options without effect and options that cost time', () => {
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

  test('logs maps, lists and units as they were given', () => {
    const { log } = load({
      'cloud-quota-overrides': ['AttachNetworkInterface=100:10'],
      'eni-tags': ['team=net', '{"cost":"7"}'],
      'resync-interval': ['90s'],
      'subnet-ids-filter': ['subnet-0123abcd subnet-4567abcd'],
      'serve-addr': ['127.0.0.1:9966'],
      'aws-max-results-per-call': ['0'],
      'dry-run': ['true'],
    });

    const { options } = log[0] as { options: Readonly<Record<string, { value: unknown }>> };
    expect(Object.fromEntries(Object.entries(options).map(([name, { value }]) => [name, value]))).toEqual({
      'cloud-quota-overrides': 'AttachNetworkInterface=100:10',
      'eni-tags': ['team=net', '{"cost":"7"}'],
      'resync-interval': '90s',
      'subnet-ids-filter': 'subnet-0123abcd subnet-4567abcd',
      'serve-addr': '127.0.0.1:9966',
      'aws-max-results-per-call': '0',
      'dry-run': true,
    });
  });

  test('logs at the requested level', () => {
    const flags = { 'limit-ipam-api-qps': ['4'], 'enable-metrics': ['true'], 'cluster-name': ['prod'] };
    const { log } = load({ ...flags, 'log-level': ['warn'] });

    expect(log.map(({ level }) => level)).toEqual(['warn']);
  });

  test('warns about a variable that no option has, and suggests the likely one', () => {
    const { log } = load(
      { 'cluster-name': ['prod'] },
      {
        HEADWATER_VPCID: 'vpc-0123abcd',
        HEADWATER_EC2_API_ENDPOINT: 'https://user:secret@ec2.example',
        HEADWATER_COLOUR: 'blue',
        HEADWATER_AWS_REGION: 'eu-central-1',
        HEADWATER_NODE: '/usr/bin/node',
        HEADWATER_V8_FLAGS: '--single-threaded',
        HEADWATER_EMPTY: '',
        CILIUM_ELSEWHERE: 'not ours',
      },
    );

    const warnings = log.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ msg, variable, meant }) => [msg, variable, meant])).toEqual([
      ['no option has this environment variable', 'HEADWATER_VPCID', 'HEADWATER_VPC_ID'],
      ['no option has this environment variable', 'HEADWATER_EC2_API_ENDPOINT', 'CILIUM_EC2_API_ENDPOINT'],
      ['no option has this environment variable', 'HEADWATER_COLOUR', undefined],
    ]);
    expect(JSON.stringify(log)).not.toContain('secret');
  });

  test('does not warn about variables that Kubernetes sets for a Service named headwater', () => {
    const { log } = load(
      { 'cluster-name': ['prod'] },
      {
        HEADWATER_SERVICE_HOST: '10.0.0.1',
        HEADWATER_SERVICE_PORT: '9966',
        HEADWATER_SERVICE_PORT_METRICS: '9966',
        HEADWATER_PORT: 'tcp://10.0.0.1:9966',
        HEADWATER_PORT_9966_TCP: 'tcp://10.0.0.1:9966',
        HEADWATER_PORT_9966_TCP_ADDR: '10.0.0.1',
        HEADWATER_METRICS_SERVICE_HOST: '10.0.0.2',
        HEADWATER_METRICS_SERVICE_PORT: '9966',
        HEADWATER_METRICS_PORT: 'tcp://10.0.0.2:9966',
        HEADWATER_METRICS_PORT_9966_TCP_PROTO: 'tcp',
      },
    );

    expect(log.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
