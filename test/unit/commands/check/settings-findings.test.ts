import { describe, expect, test } from '@jest/globals';
import { blockChecks } from '../../../../src/blocks/settings/block-pools.ts';
import { ciliumConfigFindings, settingsFindings } from '../../../../src/commands/check/settings-findings.ts';
import { loadOptions } from '../../../../src/config/load-options.ts';

function findingsOf(
  flags: Readonly<Record<string, string>>,
): readonly (readonly [string, string, string?])[] {
  const given = new Map(Object.entries(flags).map(([name, text]) => [name, [text]]));
  const outside = {
    environment: {},
    readFile: (): string => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
    readDirectory: (): readonly string[] => [],
  };
  const loaded = loadOptions(given, outside, { checks: blockChecks });
  return settingsFindings(loaded).map(({ verdict, found, remedy = '' }) => [verdict, found, remedy]);
}

const named = { 'cluster-name': 'mine' };

describe('rows of options', () => {
  test.each<[string, Record<string, string>, readonly (readonly [string, RegExp, RegExp])[]]>([
    ['all is well', named, [['ok', /^accepted: --ipam=eni, and options that are set: 1$/, /^$/]]],
    [
      'no name of the cluster',
      {},
      [
        ['ok', /^accepted/, /^$/],
        ['warning', /^orphaned interfaces are not deleted \(the cluster's name is default/, /--cluster-name/],
      ],
    ],
    [
      'limits slower than our defaults',
      { ...named, 'limit-ipam-api-qps': '1', 'limit-ipam-api-burst': '1' },
      [
        ['ok', /^accepted/, /^$/],
        ['warning', /^all cloud calls together are capped \(--limit-ipam-api-qps: /, /^$/],
      ],
    ],
    [
      'a Lease that is too short for releases',
      {
        ...named,
        'leader-election-lease-duration': '5s',
        'leader-election-renew-deadline': '4s',
        'leader-election-retry-period': '1s',
        'cloud-call-timeout': '60s',
      },
      [
        ['ok', /^accepted/, /^$/],
        ['warning', /the lease is/, /./],
      ],
    ],
    [
      'IPv6 where none is served',
      { ipam: 'azure', 'enable-ipv6': 'true' },
      [
        ['ok', /^accepted: --ipam=azure/, /^$/],
        ['warning', /^IPv6 is not served in this mode \(--enable-ipv6: /, /enable-ipv6 to false/],
      ],
    ],
    [
      'a subnet of another cloud',
      { ...named, 'subnet-ids-filter': 'vsw-1' },
      [['problem', /^subnet-ids-filter: .*ids that start with subnet-/, /does not start with it/]],
    ],
    ['a mode that is none', { ipam: 'crd' }, [['problem', /^ipam: /, /does not start with it/]]],
  ])('are what the process itself would say: %s', (_, flags, rows) => {
    expect(findingsOf(flags)).toEqual(
      rows.map((row) => row.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each)))),
    );
  });
});

describe('rows of what the agents are told beside Headwater', () => {
  const ours = { ipam: 'eni', clusterName: 'mine' } as const;

  test.each<[string, Record<string, string>, readonly (readonly [string, RegExp])[]]>([
    ['nothing is known', {}, []],
    ['the same', { ipam: 'eni', 'cluster-name': 'mine', debug: 'true' }, []],
    [
      'another mode',
      { ipam: 'cluster-pool' },
      [['problem', /ipam=cluster-pool .* and Headwater eni: agents/]],
    ],
    ['another name', { 'cluster-name': 'default' }, [['warning', /cluster-name=default .* Headwater mine/]]],
  ])('say what does not fit: %s', (_, config, rows) => {
    expect(ciliumConfigFindings(config, ours).map(({ verdict, found }) => [verdict, found])).toEqual(
      rows.map(([verdict, found]) => [verdict, expect.stringMatching(found)]),
    );
  });
});
