// Every action of the model, by name.
import type { RpcAction } from '../rpc-action.ts';
import { addressActions } from './addresses.ts';
import { attachmentActions } from './attachments.ts';
import { instanceActions } from './instances.ts';
import { interfaceActions } from './network-interfaces.ts';
import { networkActions } from './networks.ts';
import { tagActions } from './tags.ts';

export const allActions: ReadonlyMap<string, RpcAction> = new Map(
  Object.entries({
    ...interfaceActions,
    ...attachmentActions,
    ...addressActions,
    ...instanceActions,
    ...networkActions,
    ...tagActions,
  }),
);
