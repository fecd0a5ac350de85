import { describe, expect, test } from '@jest/globals';
import type { ReadCloud } from '../../../../src/commands/check/cloud-facts.ts';
import { cloudFindings, orphanFindings } from '../../../../src/commands/check/cloud-findings.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import type { CloudFailure } from '../../../../src/providers/contract/cloud-failure.ts';
import type { Instance, Observation } from '../../../../src/providers/contract/facts.ts';
import type { NetworkInterface } from '../../../../src/providers/contract/network-interface.ts';
import { emptyInfrastructure } from '../../../../src/providers/contract/infrastructure.ts';

const nothing = { kind: 'nothingToRead' } as const;
const well: ReadCloud = {
  place: 'us-east-1, account 1',
  reached: { kind: 'read', value: true },
  infrastructure: nothing,
  instances: nothing,
  limits: nothing,
  detached: nothing,
  others: nothing,
};

function failed(change: Partial<CloudFailure>): { kind: 'failed'; failure: CloudFailure; remedy: string } {
  const failure = {
    kind: 'unknown',
    action: 'DescribeVpcs',
    code: 'X',
    message: 'no',
    requestId: undefined,
    ...change,
  } as const;
  return { kind: 'failed', failure, remedy: 'do something' };
}

const denied = failed({ kind: 'notAuthorized', permission: 'ec2:DescribeSubnets' });

function instances(...of: readonly Partial<Instance>[]): ReadCloud['instances'] {
  const value: readonly Observation[] = of.map((each) => ({
    kind: 'instance',
    instance: { id: 'i-1', state: 'running', managed: true, ...each },
  }));
  return { kind: 'read', value };
}

describe('rows of the cloud', () => {
  test.each<[string, Partial<ReadCloud>, readonly (readonly [string, string, RegExp])[]]>([
    ['it answers', {}, [['ok', 'cloud', /^it answers: us-east-1, account 1$/]]],
    [
      'it cannot be reached',
      { reached: failed({ kind: 'unreachable' }) },
      [['unknown', 'cloud', /^DescribeVpcs failed: X: no$/]],
    ],
    [
      'wrong credentials',
      { reached: failed({ kind: 'notAuthorized', credentials: 'invalid' }) },
      [['problem', 'cloud', /^DescribeVpcs failed/]],
    ],
    [
      'a read is denied',
      { infrastructure: denied },
      [
        ['ok', 'cloud', /./],
        ['problem', 'permissions in the cloud', /^DescribeVpcs failed/],
      ],
    ],
    [
      'a call is denied that several reads take',
      { instances: denied, detached: denied },
      [
        ['ok', 'cloud', /./],
        ['problem', 'permissions in the cloud', /^DescribeVpcs failed/],
      ],
    ],
    [
      'limits of types are denied',
      { limits: denied },
      [
        ['ok', 'cloud', /./],
        ['problem', 'permissions in the cloud', /./],
      ],
    ],
    [
      'only what few nodes need is denied',
      {
        infrastructure: {
          kind: 'read',
          value: { ...emptyInfrastructure, denied: { routeTables: new Map([['vpc-1', denied.failure]]) } },
        },
      },
      [
        ['ok', 'cloud', /./],
        ['problem', 'permissions in the cloud', /./],
      ],
    ],
    [
      'instances that are not there',
      { instances: instances({ state: 'unknown' }) },
      [
        ['ok', 'cloud', /./],
        ['problem', 'instances', /^the cloud does not show 1 instance \(i-1\) that CiliumNodes name$/],
      ],
    ],
    [
      'instances that options exclude',
      { instances: instances({ managed: false }) },
      [
        ['ok', 'cloud', /./],
        ['warning', 'instances', /is not served: each does not carry the tags of --instance-tags-filter$/],
      ],
    ],
  ])('say what it refuses, and what it does not show: %s', (_, change, rows) => {
    const findings = cloudFindings({ ...well, ...change }, awsSection.words);

    expect(findings.map(({ verdict, what, found }) => [verdict, what, found])).toEqual(
      rows.map(([verdict, what, found]) => [verdict, what, expect.stringMatching(found)]),
    );
  });
});

describe('the row of orphans', () => {
  const orphan = { id: 'eni-1' } as NetworkInterface;

  test.each([
    [[], true, []],
    [
      [orphan],
      true,
      [
        [
          'ok',
          '1 interface (eni-1) with the tags of this cluster is attached to no instance: Headwater uses them again, or deletes them',
        ],
      ],
    ],
    [
      [orphan, orphan],
      false,
      [['warning', '2 interfaces (eni-1, eni-1) with the tags of this cluster are attached to no instance']],
    ],
  ] as const)('says who deletes them: %#', (value, collects, rows) => {
    const findings = orphanFindings({ detached: { kind: 'read', value }, others: nothing }, collects);

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(rows);
  });

  test('warn of instances outside the cluster that some were made for', () => {
    const value = ['eni-1'].map((id) => ({ id }) as NetworkInterface);
    const others = { kind: 'read', value: ['i-9'] } as const;

    expect(orphanFindings({ detached: { kind: 'read', value }, others }, true)).toMatchObject([
      { verdict: 'warning', found: expect.stringMatching(/made for 1 instance \(i-9\), .* same tags$/) },
    ]);
  });
});
