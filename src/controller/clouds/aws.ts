// Composes the AWS provider around an API implementation: the real SDK, or a model in the same process. A command hands
// one of these functions to the mode that it opens.
import { STATUS_CODES } from 'node:http';
import { belongingTags, interfaceTags } from '../../config/interface-tags.ts';
import type { Options } from '../../config/option-table.ts';
import { awsAllocation } from '../../providers/aws/aws-allocation.ts';
import type { Ec2Api } from '../../providers/aws/ec2-api.ts';
import { Ec2Client } from '../../providers/aws/ec2-client.ts';
import { failureOf } from '../../providers/aws/errors.ts';
import { instanceIdOf } from '../../providers/aws/ids.ts';
import { ec2Limits } from '../../providers/aws/quotas.ts';
import { describeWhereabouts, type WhereaboutsSource } from '../../providers/aws/whereabouts.ts';
import type { SharedSubnetTags } from '../../providers/aws/shared-subnet-tags.ts';
import { PrefixReads } from '../../providers/aws/prefix-reads.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { AwsAliases } from './aws-aliases.ts';
import type { OperatorInstruments } from './call-instruments.ts';
import type { AliasCloud, Cloud, CloudDeps, CloudReports } from './cloud.ts';
import { type CallRules, type CloudCalls, composeCalls } from './cloud-calls.ts';
import { composeNetworkAccount, networkAccountRole } from './network-account.ts';

type AwsSource = Ec2Api & Partial<WhereaboutsSource>;

/** `ofNetworkAccount`: EC2 as the role of that account sees it, if the options name one. */
export function composeAws(api: AwsSource, deps: CloudDeps, ofNetworkAccount?: Ec2Api): Cloud {
  const { options } = deps;
  const { gate, sharedTags, ...reports } = composeReports(api, deps, ofNetworkAccount);
  const implementation = awsAllocation(
    new Ec2Client(api, gate),
    {
      pageSize: options.awsMaxResultsPerCall,
      instanceTags: options.instanceTagsFilter,
      subnetIds: options.subnetIdsFilter,
      subnetTags: options.subnetTagsFilter,
      tolerance: options.skipUnreadableItems ? 'all' : 'few',
    },
    sharedTags,
  );
  return {
    ...reports,
    instanceIdOf,
    implementation,
    interfaceTags: interfaceTags(options),
    belongingTags: belongingTags(options),
  };
}

export function composeAwsAliases(api: AwsSource, deps: CloudDeps): AliasCloud {
  const { gate, ...reports } = composeReports(api, deps);
  const { clock, options } = deps;
  const client = new Ec2Client(api, gate);
  const reads = new PrefixReads(client, clock, options.awsMaxResultsPerCall);
  const place = async (): Promise<string> => (await reports.describe()).scope;
  return {
    ...reports,
    aliases: new AwsAliases(reads, clock, place),
    words: {
      alias: 'prefix',
      carrier: 'the primary interface of its instance',
      remedy:
        'have the launch template of its group assign one (Ipv6PrefixCount, Ipv4PrefixCount), or assign it',
    },
  };
}

interface AwsReports extends CloudReports, Pick<CloudCalls, 'gate'> {
  readonly sharedTags?: SharedSubnetTags;
}

function composeReports(api: AwsSource, deps: CloudDeps, ofNetworkAccount?: Ec2Api): AwsReports {
  const { options, clock } = deps;
  const rules: CallRules = {
    operatorInstruments: operatorInstruments(deps.metrics),
    limits: ec2Limits,
    failureOf: ({ name }, error) => failureOf(name, error),
  };
  const own = composeCalls(rules, deps);
  const role = networkAccountRole(options);
  const other =
    ofNetworkAccount && role && composeNetworkAccount(ofNetworkAccount, role, { rules, own, deps });
  return {
    ...own,
    ...other?.reports,
    ...(other !== undefined && { sharedTags: other.sharedTags }),
    describe: async () => ({ scope: await describeWhereabouts(whereaboutsIn(api, options), clock) }),
  };
}

function operatorInstruments(metrics: Metrics): OperatorInstruments {
  return {
    duration: metrics.cilium_operator_ec2_api_duration_seconds,
    wait: metrics.cilium_operator_ec2_api_rate_limit_duration_seconds,
    responseCode: ({ failure, status }) => {
      const text = status === undefined ? undefined : STATUS_CODES[status];
      return failure === undefined ? 'OK' : (text ?? 'Failed');
    },
  };
}

/** An in-process model reports neither region nor account. */
function whereaboutsIn(api: Partial<WhereaboutsSource>, { awsRegion }: Options): WhereaboutsSource {
  return {
    region: async () => awsRegion ?? (await api.region?.()),
    account: async (signal) => api.account?.(signal),
  };
}
