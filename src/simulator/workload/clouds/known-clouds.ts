// The clouds whose agents the workload plays.
import type { CloudName } from '../node-facts.ts';
import type { AgentCloud } from './agent-cloud.ts';
import { alibaba } from './alibaba.ts';
import { aws } from './aws.ts';
import { azure } from './azure.ts';

const known: Readonly<Record<CloudName, AgentCloud>> = { aws, azure, alibabacloud: alibaba };

/** AWS unless the facts name another cloud. */
export function agentCloudOf({ cloud = 'aws' }: { readonly cloud?: CloudName | undefined }): AgentCloud {
  return known[cloud];
}
