// Every supported action, by name.
import type { Action } from '../action.ts';
import { addressActions } from './addresses.ts';
import { attachmentActions } from './attachments.ts';
import { elasticAddressActions } from './elastic-addresses.ts';
import { instanceTypeActions } from './instance-types.ts';
import { instanceActions } from './instances.ts';
import { networkInterfaceActions } from './network-interfaces.ts';
import { regionActions } from './regions.ts';
import { routeTableActions } from './route-tables.ts';
import { runInstancesActions } from './run-instances.ts';
import { securityGroupActions } from './security-groups.ts';
import { subnetActions } from './subnets.ts';
import { tagActions } from './tags.ts';
import { vpcActions } from './vpcs.ts';

export const allActions: ReadonlyMap<string, Action> = new Map(
  Object.entries({
    ...networkInterfaceActions,
    ...attachmentActions,
    ...addressActions,
    ...instanceActions,
    ...runInstancesActions,
    ...instanceTypeActions,
    ...vpcActions,
    ...subnetActions,
    ...routeTableActions,
    ...securityGroupActions,
    ...elasticAddressActions,
    ...tagActions,
    ...regionActions,
  }),
);
