// Composes the provider of Alibaba Cloud around an API implementation: the vendor's models and signature, or a model in the
// same process. A command hands this function to the controller as `composeCloud`.
import { belongingTags, interfaceTags } from '../../config/interface-tags.ts';
import { alibabaAllocation } from '../../providers/alibaba/alibaba-allocation.ts';
import { failureOf } from '../../providers/alibaba/errors.ts';
import { instanceIdOf } from '../../providers/alibaba/ids.ts';
import { alibabaLimits } from '../../providers/alibaba/limits.ts';
import type { RpcApi } from '../../providers/alibaba/rpc-api.ts';
import type { OperatorInstruments } from './call-instruments.ts';
import type { Cloud, CloudDeps } from './cloud.ts';
import { composeCalls } from './cloud-calls.ts';

export interface AlibabaConnection {
  readonly api: RpcApi;
  readonly regionId: string;
}

export function composeAlibaba({ api, regionId }: AlibabaConnection, deps: CloudDeps): Cloud {
  const { options, clock, metrics } = deps;
  const operatorInstruments: OperatorInstruments = {
    duration: metrics.cilium_operator_alibabacloud_api_duration_seconds,
    wait: metrics.cilium_operator_alibabacloud_api_rate_limit_duration_seconds,
    responseCode: ({ failure, status }) =>
      failure === undefined ? 'OK' : status === undefined ? 'Failed' : failure.code,
  };
  const rules = { operatorInstruments, limits: alibabaLimits, failureOf };
  const { gate, limits, ...calls } = composeCalls(rules, deps);
  return {
    ...calls,
    instanceIdOf,
    implementation: alibabaAllocation({
      api,
      gate,
      limits,
      clock,
      consistencyWindow: options.consistencyWindow,
      filters: {
        instanceTags: options.instanceTagsFilter,
        subnetIds: options.subnetIdsFilter,
        subnetTags: options.subnetTagsFilter,
      },
      tolerance: options.skipUnreadableItems ? 'all' : 'few',
    }),
    interfaceTags: interfaceTags(options),
    belongingTags: belongingTags(options),
    describe: () => Promise.resolve({ scope: regionId }),
  };
}
