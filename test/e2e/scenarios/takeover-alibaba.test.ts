import { alibabaCloud } from '../../support/stand-in-operator.ts';
import { serveAlibabaModel } from '../rig/alibaba-model.ts';
import { describeTakeover } from '../rig/operator-takeover.ts';

describeTakeover({
  mode: 'alibabacloud',
  section: 'alibaba-cloud',
  serve: async (nodes) => {
    const model = await serveAlibabaModel(nodes);
    return { ...model, operator: alibabaCloud(model.network) };
  },
  releases: ['--alibaba-cloud-release-excess-ips'],
  bothProtocols: false,
  isThorough: false,
});
