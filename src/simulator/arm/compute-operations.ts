// Operations of Microsoft.Compute: scale sets, their machines, and machines of their own.
import { numberAt, textsAt } from '../workload/json.ts';
import { answer, type ArmAnswer, type ArmCall, type ArmContext, type ArmOperation } from './arm-call.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { Machine } from './arm-records.ts';
import { badRequest } from './arm-refusal.ts';
import { refuseEtag } from './etags.ts';
import { findInstance, findMachine, findScaleSet } from './finding.ts';
import { listPage } from './listing.ts';
import { changePower, deleteMachine, updateMachine } from './machine-changes.ts';
import { accepted } from './operation-answers.ts';
import { renderMachine, renderScaleSet, renderView } from './rendering.ts';
import { keyOf, ownerOf, parentOf } from './resource-path.ts';
import { deleteScaleSet, remodel, scale, upgrade } from './scale-set-changes.ts';

const group = '/subscriptions/{subscription}/resourceGroups/{group}';
const scaleSets = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets`;
const instances = `${scaleSets}/{scaleSet}/virtualMachines`;
const machines = `${group}/providers/Microsoft.Compute/virtualMachines`;
const provider = 'Microsoft.Compute';
const setAction = 'Microsoft.Compute/virtualMachineScaleSets';
const machineAction = 'Microsoft.Compute/virtualMachines';

function shown(call: ArmCall, { cloud }: ArmContext, machine: Machine): ArmAnswer {
  const expanded = call.query.get('$expand');
  if (expanded !== null && expanded.toLowerCase() !== 'instanceview') {
    throw badRequest('InvalidParameter', `The value '${expanded}' of parameter $expand is invalid.`);
  }
  return tagged(renderMachine(cloud, machine, expanded !== null), machine.etag);
}

function tagged(body: ReturnType<typeof renderMachine>, etag: string): ArmAnswer {
  return { ...answer(body), headers: { etag } };
}

function changed(call: ArmCall, { cloud, failure }: ArmContext): ArmAnswer {
  const machine = findInstance(cloud, call.path);
  const operation = updateMachine(cloud, { machine, body: call.body, ifMatch: call.ifMatch, failure });
  const now = cloud.machine(machine.id);
  return accepted(cloud, call, operation, {
    ...tagged(renderMachine(cloud, now, false), now.etag),
    status: 200,
  });
}

function poweredBy(action: 'start' | 'deallocate', find: (cloud: ArmCloud, path: string) => Machine) {
  return (call: ArmCall, { cloud }: ArmContext): ArmAnswer => {
    const path = ownerOf(call.path);
    const operation = changePower(cloud, find(cloud, path), action);
    return accepted(cloud, call, operation, { status: 202, headers: {} });
  };
}

/** A deletion of what is gone already is answered with 204. */
function deleted(call: ArmCall, { cloud }: ArmContext): ArmAnswer {
  const machine = cloud.machines.current.get(keyOf(call.path));
  if (machine === undefined) return { status: 204, headers: {} };
  return accepted(cloud, call, deleteMachine(cloud, machine), { status: 202, headers: {} });
}

/** Another capacity, or another model. */
function updatedSet(call: ArmCall, { cloud }: ArmContext): ArmAnswer {
  const scaleSet = findScaleSet(cloud, call.path);
  refuseEtag(scaleSet, call.ifMatch);
  const operation =
    'sku' in call.body
      ? scale(cloud, scaleSet, numberAt(call.body, 'sku', 'capacity'))
      : remodel(cloud, scaleSet, call.body);
  const now = findScaleSet(cloud, call.path);
  return accepted(cloud, call, operation, tagged(renderScaleSet(cloud, now), now.etag));
}

function upgraded(call: ArmCall, { cloud }: ArmContext): ArmAnswer {
  const scaleSet = findScaleSet(cloud, ownerOf(call.path));
  const operation = upgrade(cloud, scaleSet, textsAt(call.body, 'instanceIds'));
  return accepted(cloud, call, operation, { status: 202, headers: {} });
}

export const computeOperations: readonly ArmOperation[] = [
  {
    name: 'VirtualMachineScaleSets.ListAll',
    method: 'GET',
    route: '/subscriptions/{subscription}/providers/Microsoft.Compute/virtualMachineScaleSets',
    provider,
    action: `${setAction}/read`,
    limits: 'ScaleSetList',
    run: (call, context) =>
      listPage(call, context, {
        moment: context.view.scaleSets,
        prefix: `${keyOf(call.path.split('/').slice(0, 3).join('/'))}/`,
        render: (record) => renderScaleSet(context.cloud, record),
      }),
  },
  {
    name: 'VirtualMachineScaleSets.Update',
    method: 'PATCH',
    route: `${scaleSets}/{scaleSet}`,
    provider,
    action: `${setAction}/write`,
    limits: 'ScaleSetUpdate',
    run: updatedSet,
  },
  {
    name: 'VirtualMachineScaleSets.UpdateInstances',
    method: 'POST',
    route: `${scaleSets}/{scaleSet}/manualupgrade`,
    provider,
    action: `${setAction}/manualupgrade/action`,
    limits: 'ScaleSetUpdate',
    run: upgraded,
  },
  {
    name: 'VirtualMachineScaleSets.Delete',
    method: 'DELETE',
    route: `${scaleSets}/{scaleSet}`,
    provider,
    action: `${setAction}/delete`,
    limits: 'ScaleSetUpdate',
    run: (call, { cloud }) => {
      const scaleSet = cloud.scaleSets.current.get(keyOf(call.path));
      if (scaleSet === undefined) return { status: 204, headers: {} };
      return accepted(cloud, call, deleteScaleSet(cloud, scaleSet), { status: 202, headers: {} });
    },
  },
  {
    name: 'VirtualMachines.ListAll',
    method: 'GET',
    route: '/subscriptions/{subscription}/providers/Microsoft.Compute/virtualMachines',
    provider,
    action: `${machineAction}/read`,
    limits: 'VmList',
    run: (call, context) =>
      listPage(call, context, {
        moment: context.view.machines,
        prefix: `${keyOf(call.path.split('/').slice(0, 3).join('/'))}/`,
        fits: ({ instanceId }) => instanceId === undefined,
        render: (record) => renderMachine(context.cloud, record, false),
      }),
  },
  {
    name: 'VirtualMachineScaleSets.List',
    method: 'GET',
    route: scaleSets,
    provider,
    action: `${setAction}/read`,
    limits: 'ScaleSetList',
    run: (call, context) =>
      listPage(call, context, {
        moment: context.view.scaleSets,
        prefix: `${keyOf(call.path)}/`,
        render: (record) => renderScaleSet(context.cloud, record),
      }),
  },
  {
    name: 'VirtualMachineScaleSets.Get',
    method: 'GET',
    route: `${scaleSets}/{scaleSet}`,
    provider,
    action: `${setAction}/read`,
    limits: 'ScaleSetGet',
    run: (call, { cloud }) => {
      const found = findScaleSet(cloud, call.path);
      return tagged(renderScaleSet(cloud, found), found.etag);
    },
  },
  {
    name: 'VirtualMachineScaleSetVMs.List',
    method: 'GET',
    route: instances,
    provider,
    action: `${setAction}/virtualMachines/read`,
    limits: 'ScaleSetVmList',
    run: (call, context) => {
      const scaleSet = findScaleSet(context.cloud, ownerOf(call.path));
      const withView = call.query.get('$expand')?.toLowerCase() === 'instanceview';
      return listPage(call, context, {
        moment: context.view.machines,
        prefix: scaleSet.mode === 'Uniform' ? `${keyOf(call.path)}/` : '',
        fits: ({ scaleSetId }) => scaleSetId === scaleSet.id,
        render: (record) => renderMachine(context.cloud, record, withView),
      });
    },
  },
  {
    name: 'VirtualMachineScaleSetVMs.Get',
    method: 'GET',
    route: `${instances}/{instance}`,
    provider,
    action: `${setAction}/virtualMachines/read`,
    limits: 'ScaleSetVmGet',
    run: (call, context) => shown(call, context, findInstance(context.cloud, call.path)),
  },
  {
    name: 'VirtualMachineScaleSetVMs.GetInstanceView',
    method: 'GET',
    route: `${instances}/{instance}/instanceView`,
    provider,
    action: `${setAction}/virtualMachines/instanceView/read`,
    limits: 'ScaleSetVmGet',
    run: (call, { cloud }) => answer(renderView(findInstance(cloud, ownerOf(call.path)))),
  },
  {
    name: 'VirtualMachineScaleSetVMs.Update',
    method: 'PUT',
    route: `${instances}/{instance}`,
    provider,
    action: `${setAction}/virtualMachines/write`,
    limits: 'ScaleSetVmUpdate',
    run: changed,
  },
  {
    name: 'VirtualMachineScaleSetVMs.Delete',
    method: 'DELETE',
    route: `${instances}/{instance}`,
    provider,
    action: `${setAction}/virtualMachines/delete`,
    limits: 'ScaleSetVmUpdate',
    run: (call, context) => {
      findScaleSet(context.cloud, parentOf(call.path));
      return deleted(call, context);
    },
  },
  {
    name: 'VirtualMachineScaleSetVMs.Start',
    method: 'POST',
    route: `${instances}/{instance}/start`,
    provider,
    action: `${setAction}/virtualMachines/start/action`,
    run: poweredBy('start', findInstance),
  },
  {
    name: 'VirtualMachineScaleSetVMs.Deallocate',
    method: 'POST',
    route: `${instances}/{instance}/deallocate`,
    provider,
    action: `${setAction}/virtualMachines/deallocate/action`,
    run: poweredBy('deallocate', findInstance),
  },
  {
    name: 'VirtualMachines.List',
    method: 'GET',
    route: machines,
    provider,
    action: `${machineAction}/read`,
    limits: 'VmList',
    run: (call, context) =>
      listPage(call, context, {
        moment: context.view.machines,
        prefix: `${keyOf(call.path)}/`,
        render: (record) => renderMachine(context.cloud, record, false),
      }),
  },
  {
    name: 'VirtualMachines.Get',
    method: 'GET',
    route: `${machines}/{machine}`,
    provider,
    action: `${machineAction}/read`,
    limits: 'VmGet',
    run: (call, context) => shown(call, context, findMachine(context.cloud, call.path)),
  },
  {
    name: 'VirtualMachines.InstanceView',
    method: 'GET',
    route: `${machines}/{machine}/instanceView`,
    provider,
    action: `${machineAction}/instanceView/read`,
    limits: 'VmGet',
    run: (call, { cloud }) => answer(renderView(findMachine(cloud, ownerOf(call.path)))),
  },
  {
    name: 'VirtualMachines.Delete',
    method: 'DELETE',
    route: `${machines}/{machine}`,
    provider,
    action: `${machineAction}/delete`,
    limits: 'VmPut',
    run: deleted,
  },
  {
    name: 'VirtualMachines.Start',
    method: 'POST',
    route: `${machines}/{machine}/start`,
    provider,
    action: `${machineAction}/start/action`,
    run: poweredBy('start', findMachine),
  },
  {
    name: 'VirtualMachines.Deallocate',
    method: 'POST',
    route: `${machines}/{machine}/deallocate`,
    provider,
    action: `${machineAction}/deallocate/action`,
    run: poweredBy('deallocate', findMachine),
  },
];
