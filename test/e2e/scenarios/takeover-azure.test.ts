import { azureCloud } from '../../support/stand-in-operator.ts';
import { serveAzureModel } from '../rig/azure-model.ts';
import { describeTakeover } from '../rig/operator-takeover.ts';

describeTakeover({
  mode: 'azure',
  section: 'azure',
  member: ['GatewayIP'],
  serve: async (nodes) => {
    const model = await serveAzureModel(nodes);
    return { ...model, operator: azureCloud(model.arm) };
  },
  releases: ['--azure-release-excess-ips'],
  bothProtocols: true,
  isThorough: false,
});
