import { eniCloud } from '../../support/stand-in-operator.ts';
import { serveEc2Model } from '../rig/ec2-model.ts';
import { describeTakeover } from '../rig/operator-takeover.ts';

describeTakeover({
  mode: 'eni',
  section: 'eni',
  member: ['availability-zone'],
  serve: async (nodes) => {
    const model = await serveEc2Model(nodes);
    return { ...model, operator: eniCloud(model.network, { showsZones: true }) };
  },
  releases: ['--aws-release-excess-ips'],
  bothProtocols: true,
  isThorough: true,
});
