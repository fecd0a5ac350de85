// Operations of Resource Manager itself: subscriptions and resource groups.
import { answer, type ArmOperation } from './arm-call.ts';
import { groupOf, keyOf, nameOf } from './resource-path.ts';

const provider = 'Microsoft.Resources';

export const resourceOperations: readonly ArmOperation[] = [
  {
    name: 'Subscriptions.Get',
    method: 'GET',
    route: '/subscriptions/{subscription}',
    provider,
    action: `${provider}/subscriptions/read`,
    run: ({ path }, { cloud }) =>
      answer({
        id: path,
        subscriptionId: nameOf(path),
        tenantId: cloud.tenant,
        displayName: nameOf(path),
        state: 'Enabled',
      }),
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
