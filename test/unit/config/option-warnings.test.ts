import { describe, expect, test } from '@jest/globals';
import { accepted, load, type Outside } from './loading.ts';

describe('options without effect', () => {
  test('are reported if they are set by flag or environment', () => {
    const { notices } = accepted(
      load({ flags: { 'enable-metrics': ['true'] }, environment: { CILIUM_ENABLE_IPV6: 'false' } }),
    );

    expect(notices.map(({ message, details }) => [message, details['option'], details['from']])).toEqual([
      ['option has no effect', 'enable-ipv6', 'the environment variable CILIUM_ENABLE_IPV6'],
      ['option has no effect', 'enable-metrics', 'the flag --enable-metrics'],
    ]);
  });

  test('are ignored silently in a directory', () => {
    const files = { '/c/enable-ipv6': 'false', '/c/enable-metrics': 'true' };

    const { notices } = accepted(load({ flags: { 'config-dir': ['/c'] }, files }));

    expect(notices).toEqual([]);
  });
});

describe('agents that ask for IPv6', () => {
  test.each<[string, string, Outside]>([
    ['azure', 'the flag --enable-ipv6', { flags: { 'enable-ipv6': ['true'] } }],
    [
      'alibabacloud',
      'the environment variable CILIUM_ENABLE_IPV6',
      { environment: { CILIUM_ENABLE_IPV6: 'true' } },
    ],
  ])('are a warning in mode %s, by %s', (ipam, from, outside) => {
    const subscription = ipam === 'azure' ? { 'azure-subscription-id': [uuid] } : {};

    const { warnings } = accepted(
      load({ ...outside, flags: { ...outside.flags, ...subscription, ipam: [ipam] } }),
    );

    expect(warnings).toContainEqual({
      kind: 'warning',
      message: 'IPv6 is not served in this mode',
      details: {
        option: 'enable-ipv6',
        from,
        because: expect.stringContaining('never gets ready'),
        remedy: 'set enable-ipv6 to false for the agents',
      },
    });
  });

  test('are a notice on AWS: only new ones say that they want it', () => {
    const files = { '/c/enable-ipv6': 'true' };

    const { notices, warnings } = accepted(load({ flags: { 'config-dir': ['/c'], ipam: ['eni'] }, files }));

    expect(warnings.map(({ details }) => details['option'])).not.toContain('enable-ipv6');
    expect(notices).toEqual([
      {
        kind: 'notice',
        message: 'IPv6 needs agents from 1.20 on',
        details: {
          option: 'enable-ipv6',
          from: 'the file /c/enable-ipv6',
          because: expect.stringContaining('agents up to 1.19'),
          remedy: expect.stringContaining('upgrade agents up to 1.19'),
        },
      },
    ]);
  });
});

const uuid = '00000000-0000-4000-8000-000000000000';

describe('a cap on all cloud calls', () => {
  test.each<[Outside, string, string]>([
    [{ flags: { 'limit-ipam-api-qps': ['4'] } }, 'limit-ipam-api-qps', 'the flag --limit-ipam-api-qps'],
    [
      { environment: { HEADWATER_CONFIG_DIR: '/c' }, files: { '/c/limit-ipam-api-burst': '20' } },
      'limit-ipam-api-burst',
      'the file /c/limit-ipam-api-burst',
    ],
  ])('causes a warning that states its cost: %j', (outside, option, from) => {
    const { warnings } = accepted(load(outside));

    expect(warnings).toContainEqual({
      kind: 'warning',
      message: 'all cloud calls together are capped',
      details: {
        option,
        from,
        perSecond: 4,
        burst: 20,
        cost: expect.stringContaining('at least 495 s instead of 190 s'),
      },
    });
  });

  test('is only a notice if it costs nothing', () => {
    const { notices, warnings } = accepted(
      load({ flags: { 'limit-ipam-api-qps': ['100'], 'limit-ipam-api-burst': ['500'] } }),
    );

    expect(warnings.filter(({ message }) => message.includes('capped'))).toEqual([]);
    expect(notices).toHaveLength(1);
  });
});

describe('the collection of orphaned interfaces', () => {
  const said = 'orphaned interfaces are not deleted';

  test.each<[string, Outside, readonly string[]]>([
    ['no name', {}, [said]],
    ['the name of every cluster without one', { flags: { 'cluster-name': ['default'] } }, [said]],
    ['a name', { flags: { 'cluster-name': ['blue'] } }, []],
    ['tags of its own', { flags: { 'eni-gc-tags': ['cluster=blue'] } }, []],
    ['no name, and nothing to collect', { flags: { 'eni-gc-interval': ['0'] } }, []],
    ['no name, in a dry run of the collection', { flags: { 'eni-gc-dry-run': ['true'] } }, [said]],
  ])('is reported, if it is off, for a cluster with %s', (_, outside, expected) => {
    const { warnings } = accepted(load(outside));

    expect(warnings.map(({ message }) => message)).toEqual(expected);
    for (const { details } of warnings) expect(details['remedy']).toContain('--cluster-name');
  });

  test.each([
    ['5s', 1],
    ['59s', 1],
    ['1m', 0],
    ['0', 0],
  ])('every %s causes %d notices about the cost', (text, count) => {
    const { notices } = accepted(load({ flags: { 'eni-gc-interval': [text], 'cluster-name': ['blue'] } }));

    expect(notices.map(({ message }) => message)).toEqual(
      Array(count).fill('orphaned interfaces are looked for very often'),
    );
    for (const { details } of notices) expect(details['cost']).toMatch(/calls an hour.*1m/);
  });
});
