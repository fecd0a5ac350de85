// Operations of Resource Manager itself: subscriptions and resource groups.
import type { JsonObject } from '../workload/json.ts';
import { answer, type ArmOperation } from './arm-call.ts';
import { seesSubscription } from './principals.ts';
import { groupOf, keyOf, nameOf } from './resource-path.ts';

const provider = 'Microsoft.Resources';

const subscriptionOf = (id: string, tenantId: string): JsonObject => ({
  id: `/subscriptions/${id}`,
  subscriptionId: id,
  tenantId,
  displayName: id,
  state: 'Enabled',
});

export const resourceOperations: readonly ArmOperation[] = [
  {
    name: 'Subscriptions.List',
    method: 'GET',
    route: '/subscriptions',
    provider,
    run: ({ caller }, { cloud: { subscriptions, tenant } }) => {
      const seen = [...subscriptions.keys()].filter((id) => seesSubscription(caller, id));
      return answer({ value: seen.map((id) => subscriptionOf(id, tenant)) });
    },
  },
  {
    name: 'Subscriptions.Get',
    method: 'GET',
    route: '/subscriptions/{subscription}',
    provider,
    action: `${provider}/subscriptions/read`,
    run: ({ path }, { cloud }) => answer({ ...subscriptionOf(nameOf(path), cloud.tenant), id: path }),
  },
  {
    name: 'ResourceGroups.Get',
    method: 'GET',
    route: '/subscriptions/{subscription}/resourceGroups/{group}',
    provider,
    action: `${provider}/subscriptions/resourceGroups/read`,
    run: ({ path, parameters }, { cloud }) => {
      const groups = cloud.subscriptions.get((parameters['subscription'] ?? '').toLowerCase());
      const name = groups?.get(keyOf(groupOf(path))) ?? '';
      return answer({
        id: `/subscriptions/${parameters['subscription'] ?? ''}/resourceGroups/${name}`,
        name,
        type: 'Microsoft.Resources/resourceGroups',
        location: cloud.location,
        properties: { provisioningState: 'Succeeded' },
      });
    },
  },
];
