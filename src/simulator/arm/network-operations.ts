// Operations of Microsoft.Network: interfaces, virtual networks and subnets.
import { textAt } from '../workload/json.ts';
import { answer, type ArmOperation } from './arm-call.ts';
import { notFound } from './arm-refusal.ts';
import { findInstance, findInterface, findScaleSet, parentNotFound, resourceNotFound } from './finding.ts';
import { listPage } from './listing.ts';
import { renderInterface, renderNetwork, renderSubnet } from './rendering.ts';
import { keyOf, parentOf } from './resource-path.ts';

const group = '/subscriptions/{subscription}/resourceGroups/{group}';
const scaleSet = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/{scaleSet}`;
const instance = `${scaleSet}/virtualMachines/{instance}`;
const interfaces = `${group}/providers/Microsoft.Network/networkInterfaces`;
const networks = `${group}/providers/Microsoft.Network/virtualNetworks`;
const provider = 'Microsoft.Network';
const setAction = 'Microsoft.Compute/virtualMachineScaleSets';
const interfaceAction = 'Microsoft.Network/networkInterfaces';
const networkAction = 'Microsoft.Network/virtualNetworks';

export const networkOperations: readonly ArmOperation[] = [
  {
    name: 'NetworkInterfaces.ListVirtualMachineScaleSetNetworkInterfaces',
    method: 'GET',
    route: `${scaleSet}/networkInterfaces`,
    provider,
    action: `${setAction}/networkInterfaces/read`,
    run: (call, context) => {
      const { cloud, view } = context;
      const found = findScaleSet(cloud, call.path.slice(0, call.path.lastIndexOf('/')));
      const prefix = `${found.id}/virtualmachines/`;
      const [first] = view.interfaces.after(prefix);
      // Of a set without machines Azure does not know the interfaces.
      if (first?.id.startsWith(prefix) !== true) {
        throw notFound('NotFound', `Resource ${call.path} not found.`);
      }
      return listPage(call, context, {
        moment: view.interfaces,
        prefix,
        render: (record) => renderInterface(cloud, record),
      });
    },
  },
  {
    name: 'NetworkInterfaces.ListVirtualMachineScaleSetVMNetworkInterfaces',
    method: 'GET',
    route: `${instance}/networkInterfaces`,
    provider,
    action: `${setAction}/virtualMachines/networkInterfaces/read`,
    run: (call, context) => {
      const { cloud, view } = context;
      const machine = findInstance(cloud, call.path.slice(0, call.path.lastIndexOf('/')));
      return listPage(call, context, {
        moment: view.interfaces,
        prefix: `${machine.id}/networkinterfaces/`,
        render: (record) => renderInterface(cloud, record),
      });
    },
  },
  {
    name: 'NetworkInterfaces.GetVirtualMachineScaleSetNetworkInterface',
    method: 'GET',
    route: `${instance}/networkInterfaces/{interface}`,
    provider,
    action: `${setAction}/virtualMachines/networkInterfaces/read`,
    run: (call, { cloud }) => {
      findInstance(cloud, parentOf(call.path));
      return shownInterface(renderInterface(cloud, findInterface(cloud, call.path)));
    },
  },
  {
    name: 'NetworkInterfaces.List',
    method: 'GET',
    route: interfaces,
    provider,
    action: `${interfaceAction}/read`,
    run: (call, context) =>
      listPage(call, context, {
        moment: context.view.interfaces,
        prefix: `${keyOf(call.path)}/`,
        render: (record) => renderInterface(context.cloud, record),
      }),
  },
  {
    name: 'NetworkInterfaces.Get',
    method: 'GET',
    route: `${interfaces}/{interface}`,
    provider,
    action: `${interfaceAction}/read`,
    run: (call, { cloud }) => shownInterface(renderInterface(cloud, findInterface(cloud, call.path))),
  },
  {
    name: 'VirtualNetworks.Get',
    method: 'GET',
    route: `${networks}/{network}`,
    provider,
    action: `${networkAction}/read`,
    run: (call, { cloud }) => {
      const found = cloud.virtualNetworks.get(keyOf(call.path));
      if (found === undefined) throw resourceNotFound(call.path);
      return answer(renderNetwork(cloud, found));
    },
  },
  {
    name: 'Subnets.Get',
    method: 'GET',
    route: `${networks}/{network}/subnets/{subnet}`,
    provider,
    action: `${networkAction}/subnets/read`,
    run: (call, { cloud }) => {
      if (!cloud.virtualNetworks.has(keyOf(parentOf(call.path)))) throw parentNotFound(call.path);
      const found = cloud.subnet(call.path);
      if (found === undefined) {
        throw notFound('NotFound', `Resource ${call.path} not found.`);
      }
      return answer(renderSubnet(cloud, found));
    },
  },
];

function shownInterface(body: ReturnType<typeof renderInterface>): ReturnType<typeof answer> {
  return { ...answer(body), headers: { etag: textAt(body, 'etag') } };
}
