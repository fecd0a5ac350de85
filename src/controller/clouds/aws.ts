// Composes the AWS provider around an API implementation: the real SDK, or a model in the same process. A command hands
// this function to the controller as `composeCloud`.
import { belongingTags, interfaceTags } from '../../config/interface-tags.ts';
import type { Options } from '../../config/option-table.ts';
import { awsAllocation } from '../../providers/aws/aws-allocation.ts';
import type { Ec2Api } from '../../providers/aws/ec2-api.ts';
import { Ec2Client } from '../../providers/aws/ec2-client.ts';
import { failureOf } from '../../providers/aws/errors.ts';
import { instanceIdOf } from '../../providers/aws/ids.ts';
import { ec2Limits } from '../../providers/aws/quotas.ts';
import { describeWhereabouts, type WhereaboutsSource } from '../../providers/aws/whereabouts.ts';
import type { Cloud, CloudDeps } from './cloud.ts';
import { composeCalls } from './cloud-calls.ts';

export function composeAws(api: Ec2Api & Partial<WhereaboutsSource>, deps: CloudDeps): Cloud {
  const { options, clock } = deps;
  const { gate, ...calls } = composeCalls(
    { meteredApi: 'ec2', limits: ec2Limits, failureOf: ({ name }, error) => failureOf(name, error) },
    deps,
  );
  const implementation = awsAllocation(new Ec2Client(api, gate), {
    pageSize: options.awsMaxResultsPerCall,
    instanceTags: options.instanceTagsFilter,
    subnetIds: options.subnetIdsFilter,
    subnetTags: options.subnetTagsFilter,
  });
  return {
    ...calls,
    instanceIdOf,
    implementation,
    interfaceTags: interfaceTags(options),
    belongingTags: belongingTags(options),
    describe: async () => ({ scope: await describeWhereabouts(whereaboutsIn(api, options), clock) }),
  };
}

/** An in-process model reports neither region nor account. */
function whereaboutsIn(api: Partial<WhereaboutsSource>, { awsRegion }: Options): WhereaboutsSource {
  return {
    region: async () => awsRegion ?? (await api.region?.()),
    account: async (signal) => api.account?.(signal),
  };
}
