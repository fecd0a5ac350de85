// Operations of Microsoft.Network: interfaces, virtual networks and subnets.
import { textAt } from '../workload/json.ts';
import { answer, type ArmAnswer, type ArmCall, type ArmContext, type ArmOperation } from './arm-call.ts';
import { notFound } from './arm-refusal.ts';
import { findInstance, findInterface, findScaleSet, parentNotFound, resourceNotFound } from './finding.ts';
import { deleteInterface, putInterface } from './interface-changes.ts';
import { listPage, momentOf } from './listing.ts';
import { accepted } from './operation-answers.ts';
import {
  renderInterface,
  renderNetwork,
  renderPrefix,
  renderPublicAddress,
  renderSubnet,
} from './rendering.ts';
import { keyOf, ownerOf, parentOf } from './resource-path.ts';

const group = '/subscriptions/{subscription}/resourceGroups/{group}';
const scaleSet = `${group}/providers/Microsoft.Compute/virtualMachineScaleSets/{scaleSet}`;
const instance = `${scaleSet}/virtualMachines/{instance}`;
const interfaces = `${group}/providers/Microsoft.Network/networkInterfaces`;
const networks = `${group}/providers/Microsoft.Network/virtualNetworks`;
const provider = 'Microsoft.Network';
const setAction = 'Microsoft.Compute/virtualMachineScaleSets';
const interfaceAction = 'Microsoft.Network/networkInterfaces';
const networkAction = 'Microsoft.Network/virtualNetworks';

/** All of a subscription or of a group, by the path. */
function scopeOf(path: string): string {
  return `${keyOf(path.split('/providers/')[0] ?? '')}/`;
}

function listNetworks(call: ArmCall, context: ArmContext): ArmAnswer {
  const { cloud } = context;
  return listPage(call, context, {
    moment: momentOf(cloud.virtualNetworks),
    prefix: scopeOf(call.path),
    render: (record) => renderNetwork(cloud, record),
  });
}

function written(call: ArmCall, { cloud, failure }: ArmContext): ArmAnswer {
  const isNew = !cloud.interfaces.current.has(keyOf(call.path));
  const { path, body, ifMatch } = call;
  const operation = putInterface(cloud, { path, body, ifMatch, failure });
  const shown = shownInterface(renderInterface(cloud, findInterface(cloud, path)));
  return accepted(cloud, call, operation, { ...shown, status: isNew ? 201 : 200 });
}

export const networkOperations: readonly ArmOperation[] = [
  {
    name: 'NetworkInterfaces.ListAll',
    method: 'GET',
    route: '/subscriptions/{subscription}/providers/Microsoft.Network/networkInterfaces',
    provider,
    action: `${interfaceAction}/read`,
    run: (call, context) =>
      listPage(call, context, {
        moment: context.view.interfaces,
        prefix: scopeOf(call.path),
        fits: ({ model }) => 'location' in model,
        render: (record) => renderInterface(context.cloud, record),
      }),
  },
  {
    name: 'NetworkInterfaces.CreateOrUpdate',
    method: 'PUT',
    route: `${interfaces}/{interface}`,
    provider,
    action: `${interfaceAction}/write`,
    run: written,
  },
  {
    name: 'NetworkInterfaces.Delete',
    method: 'DELETE',
    route: `${interfaces}/{interface}`,
    provider,
    action: `${interfaceAction}/delete`,
    run: (call, { cloud }) => {
      const found = cloud.interfaces.current.get(keyOf(call.path));
      if (found === undefined) return { status: 204, headers: {} };
      return accepted(cloud, call, deleteInterface(cloud, found), { status: 202, headers: {} });
    },
  },
  {
    name: 'VirtualNetworks.ListAll',
    method: 'GET',
    route: '/subscriptions/{subscription}/providers/Microsoft.Network/virtualNetworks',
    provider,
    action: `${networkAction}/read`,
    run: listNetworks,
  },
  {
    name: 'VirtualNetworks.List',
    method: 'GET',
    route: networks,
    provider,
    action: `${networkAction}/read`,
    run: listNetworks,
  },
  {
    name: 'Subnets.List',
    method: 'GET',
    route: `${networks}/{network}/subnets`,
    provider,
    action: `${networkAction}/subnets/read`,
    run: (call, context) => {
      const { cloud } = context;
      if (!cloud.virtualNetworks.has(keyOf(ownerOf(call.path)))) throw resourceNotFound(ownerOf(call.path));
      return listPage(call, context, {
        moment: momentOf(cloud.subnets),
        prefix: `${keyOf(call.path)}/`,
        render: (record) => renderSubnet(cloud, record),
      });
    },
  },
  {
    name: 'NetworkInterfaces.ListVirtualMachineScaleSetNetworkInterfaces',
    method: 'GET',
    route: `${scaleSet}/networkInterfaces`,
    provider,
    action: `${setAction}/networkInterfaces/read`,
    run: (call, context) => {
      const { cloud, view } = context;
      const found = findScaleSet(cloud, ownerOf(call.path));
      const prefix = `${found.id}/virtualmachines/`;
      const [first] = view.interfaces.after(prefix);
      // Azure answers 404 for the interfaces of a scale set without machines.
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
      const machine = findInstance(cloud, ownerOf(call.path));
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
    name: 'PublicIPAddresses.GetVirtualMachineScaleSetPublicIPAddress',
    method: 'GET',
    route: `${instance}/networkInterfaces/{interface}/ipConfigurations/{configuration}/publicIPAddresses/{address}`,
    provider,
    action: `${setAction}/virtualMachines/networkInterfaces/ipConfigurations/publicIPAddresses/read`,
    run: (call, { cloud }) => {
      const found = cloud.publicAddresses.get(keyOf(call.path));
      if (found === undefined) throw resourceNotFound(call.path);
      return answer(renderPublicAddress(cloud, found));
    },
  },
  {
    name: 'PublicIPPrefixes.List',
    method: 'GET',
    route: `${group}/providers/Microsoft.Network/publicIPPrefixes`,
    provider,
    action: 'Microsoft.Network/publicIPPrefixes/read',
    run: (call, context) =>
      listPage(call, context, {
        moment: momentOf(context.cloud.publicIpPrefixes),
        prefix: `${keyOf(call.path)}/`,
        render: (record) => renderPrefix(context.cloud, record),
      }),
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
