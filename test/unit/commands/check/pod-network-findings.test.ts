import { expect, test } from '@jest/globals';
import { podNetworkFindings } from '../../../../src/commands/check/pod-network-findings.ts';
import { awsSection } from '../../../../src/providers/aws/cilium-node-section.ts';
import { emptyInfrastructure, type Network } from '../../../../src/providers/contract/infrastructure.ts';

const { words } = awsSection;

function rows(blocks: Readonly<Record<string, readonly [string, ...string[]]>>): readonly string[] {
  const networks = new Map<string, Network>(
    Object.entries(blocks).map(([id, [primaryCidr, ...cidrs]]) => [id, { id, primaryCidr, cidrs }]),
  );
  const infrastructure = { ...emptyInfrastructure, networks, networkIds: new Set(networks.keys()) };
  return podNetworkFindings('vpc-p', infrastructure, words).map(
    ({ verdict, found, ...rest }) => `${verdict} ${found}${'remedy' in rest ? `: ${rest.remedy}` : ''}`,
  );
}

test.each<[string, Parameters<typeof rows>[0], readonly string[]]>([
  [
    'none',
    { 'vpc-a': ['10.0.0.0/16'], 'vpc-b': ['10.2.0.0/16'], 'vpc-p': ['10.1.0.0/16', '100.64.0.0/16'] },
    ['ok pods get addresses of vpc-p (10.1.0.0/16, 100.64.0.0/16)'],
  ],
  [
    'that of the pods and one of instances',
    { 'vpc-a': ['10.0.0.0/8'], 'vpc-p': ['10.1.0.0/16'] },
    [
      'problem 10.1.0.0/16 of vpc-p and 10.0.0.0/8 of vpc-a have addresses in common: choose a network with other blocks by --pod-vpc-id',
    ],
  ],
  [
    'two of instances',
    { 'vpc-a': ['10.0.0.0/16'], 'vpc-b': ['10.0.0.0/16'], 'vpc-p': ['10.1.0.0/16'] },
    [
      'warning 10.0.0.0/16 of vpc-a and 10.0.0.0/16 of vpc-b have addresses in common: serve the nodes of one of them by --vpc-id',
    ],
  ],
])('networks of which addresses cannot be told apart: %s', (_, blocks, expected) => {
  expect(rows(blocks)).toEqual(expected);
});
