import { alibabaCloud } from '../../support/stand-in-operator.ts';
import { serveAlibabaModel } from '../rig/alibaba-model.ts';
import { describeTakeover } from '../rig/operator-takeover.ts';

describeTakeover({
  mode: 'alibabacloud',
  section: 'alibaba-cloud',
  member: ['vswitch', 'ipv6-cidr'],
  serve: async (nodes) => {
    const model = await serveAlibabaModel(nodes);
    return { ...model, operator: alibabaCloud(model.network, { ipv6Cidr: '2001:db8::/64' }) };
  },
  releases: ['--alibaba-cloud-release-excess-ips'],
  bothProtocols: false,
  isThorough: false,
});
