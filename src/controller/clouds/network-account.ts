// Composes what reads the tags of subnets that another account shares: its role, and calls within the limits of that account.
import type { Options } from '../../config/option-table.ts';
import type { Ec2Api } from '../../providers/aws/ec2-api.ts';
import { ec2Limits } from '../../providers/aws/quotas.ts';
import {
  accountOf,
  type AssumedRole,
  failureOfRole,
  limitOf,
  OtherAccountClient,
  SharedSubnetTags,
} from '../../providers/aws/shared-subnet-tags.ts';
import type { LimitSizes } from '../../providers/rate-limit/limit-key.ts';
import type { CloudDeps } from './cloud.ts';
import { type CallRules, type CloudCalls, composeCalls } from './cloud-calls.ts';

/** Our own network waits for the tags of others: no longer than this for an answer, in ms. */
const maxTimeout = 5000;

/** The role of the options; undefined without one. */
export function networkAccountRole(options: Options): AssumedRole | undefined {
  const { networkAccountRoleArn: arn, networkAccountExternalId: externalId } = options;
  return arn === undefined ? undefined : { arn, externalId };
}

export interface NetworkAccount {
  readonly sharedTags: SharedSubnetTags;
  /** The reports about calls of both accounts. */
  readonly reports: Pick<CloudCalls, 'showCalls' | 'buckets' | 'denied'>;
}

/** `rules`: of calls of our own account, and `own`: their reports. Limits that were raised for it are not those of the other. */
export function composeNetworkAccount(
  api: Ec2Api,
  role: AssumedRole,
  { rules, own, deps }: { readonly rules: CallRules; readonly own: CloudCalls; readonly deps: CloudDeps },
): NetworkAccount {
  const { options, metrics, clock } = deps;
  const { gate, showCalls, buckets, denied } = composeCalls(
    {
      ...rules,
      limits: limitsIn(accountOf(role)),
      failureOf: (call, error) => failureOfRole(rules.failureOf(call, error), role),
    },
    {
      ...deps,
      options: {
        ...options,
        cloudCallTimeout: Math.min(options.cloudCallTimeout, maxTimeout),
        cloudQuotaOverrides: new Map(),
      },
    },
  );
  const client = new OtherAccountClient(api, gate, accountOf(role));
  return {
    sharedTags: new SharedSubnetTags(client, role, {
      pageSize: options.awsMaxResultsPerCall,
      clock,
      subnetIds: options.subnetIdsFilter,
    }),
    reports: {
      showCalls: () => {
        showCalls();
        own.showCalls();
        metrics.headwater_cloud_calls_in_flight.set(own.gate.inFlight + gate.inFlight);
      },
      buckets: () => [...own.buckets(), ...buckets()],
      denied: () => [...own.denied(), ...denied()],
    },
  };
}

/** The limits of the calls that the role is used for. */
function limitsIn(account: string): LimitSizes {
  const read = 'DescribeSubnets';
  const size = ec2Limits.get(read);
  return new Map(size === undefined ? [] : [[limitOf(read, account), size]]);
}
