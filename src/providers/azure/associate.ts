// Gives the primary interface of a scale-set VM a public address out of a prefix: one more change of the model of the VM.
// The request has a fixed name in the model, so after a lost answer the model says whether it arrived.
import type { CallContext } from '../contract/cloud.ts';
import type { AssociateStaticIP, Outcome } from '../contract/operations.ts';
import { CloudError } from '../contract/cloud-failure.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { failure } from './arm-client.ts';
import { nameOfInterface, parseInstanceId, type ScaleSetVm } from './ids.ts';
import { holdsAssociation, withAssociation } from './instance-model.ts';
import {
  changeModel,
  notCertain,
  type Prepared,
  readInterfaces,
  type Target,
  type UpdateParts,
  withoutLeftovers,
} from './model-change.ts';
import type { PublicAddresses } from './public-addresses.ts';
import { prefixOf } from './public-ip-prefixes.ts';
import { scaleSetVm } from './requests.ts';

const update = 'VirtualMachineScaleSetVMs.Update';

/** Resolves once the interface shows its public address, or is sure not to get it. Never rejects for anything Azure does. */
export async function associate(
  parts: UpdateParts,
  publicAddresses: PublicAddresses,
  operation: AssociateStaticIP,
  context: CallContext,
): Promise<Outcome> {
  const { instanceId, interfaceId } = operation;
  const vm = parseInstanceId(instanceId);
  if (vm?.kind !== 'scaleSetVm') return { kind: 'failed', failure: notInScaleSet };
  const within = { ...context, instanceId };
  const target = targetOf(parts, operation, vm);
  const result = await changeModel(parts, target, within);
  if (result.kind !== 'shown') return result;
  const publicAddress = await addressOf(parts, publicAddresses, { vm, interfaceId }, within);
  return { kind: 'done', answer: { kind: 'staticIPAssociated', interfaceId, instanceId, publicAddress } };
}

const notInScaleSet = failure(
  { operation: update },
  'NotInScaleSet',
  'Headwater gives public IP addresses only to VMs of Uniform scale sets: associate one with the interface of this VM yourself',
);

function targetOf(
  parts: UpdateParts,
  { instanceId, interfaceId, addressId }: AssociateStaticIP,
  vm: ScaleSetVm,
): Target {
  const name = nameOfInterface(interfaceId);
  const prepared = (model: JsonObject): Prepared => {
    const goal = { kind: 'associated', names: new Map([[name, ['']]]) } as const;
    if (holdsAssociation(model, name)) return { kind: 'sent', goal };
    const edit = withAssociation(model, name, prefixOf(addressId));
    return edit.kind === 'refused' ? edit : { kind: 'change', model: edit.model, goal };
  };
  return {
    instanceId,
    read: scaleSetVm(vm),
    update,
    effect: 'adds',
    prepare: async (model, context) => {
      const cleaned = await withoutLeftovers(parts, { instanceId, vm }, model, context);
      return cleaned === undefined ? notCertain : prepared(cleaned);
    },
  };
}

/** Empty if it cannot be read now. */
async function addressOf(
  parts: UpdateParts,
  publicAddresses: PublicAddresses,
  { vm, interfaceId }: { readonly vm: ScaleSetVm; readonly interfaceId: string },
  context: CallContext,
): Promise<string> {
  try {
    const shown = await readInterfaces(parts, vm, { ...context, inFlight: true });
    const own = shown.filter(({ id }) => id === interfaceId);
    const [found] = await publicAddresses.complete(own, { ...context, inFlight: true });
    return found === undefined || 'problem' in found.read ? '' : (found.read.interface.publicAddress ?? '');
  } catch (error) {
    if (error instanceof CloudError || context.signal.aborted) return '';
    throw error;
  }
}
