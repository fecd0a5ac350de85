// Reads a published `status.alibaba-cloud` back. Skips interfaces without what agents need.
import { isIPv4 } from 'node:net';
import type { RestoredState } from '../contract/cilium-node-section.ts';
import { attachedTo, interfaceWith, type NetworkInterface } from '../contract/network-interface.ts';
import { items, member, text, texts, textsByName } from '../section/published-json.ts';
import { restoreById, restoredNetwork, restoredSubnet } from '../section/restored-status.ts';
import { attachmentIdOf, slotIn } from './network-interface.ts';

export function restoreStatus(instanceId: string, status: unknown): RestoredState {
  return restoreById(status, {
    interface: (id, eni) => restoreInterface(instanceId, id, eni),
    subnet: (eni) => {
      const [vswitch, zone] = [member(eni, 'vswitch'), text(eni, 'zone-id')];
      const networkId = text(member(eni, 'vpc'), 'vpc-id');
      return restoredSubnet({
        id: text(vswitch, 'vswitch-id'),
        cidr: text(vswitch, 'cidr'),
        networkId,
        zone,
      });
    },
    network: (eni) => {
      const vpc = member(eni, 'vpc');
      const cidrs = texts(vpc, 'secondary-cidrs');
      return restoredNetwork({ id: text(vpc, 'vpc-id'), primaryCidr: text(vpc, 'cidr'), cidrs });
    },
  });
}

function restoreInterface(instanceId: string, id: string, eni: unknown): NetworkInterface | undefined {
  const [mac, primaryAddress] = [text(eni, 'mac-address'), text(eni, 'primary-ip-address')];
  const subnetId = text(member(eni, 'vswitch'), 'vswitch-id');
  const networkId = text(member(eni, 'vpc'), 'vpc-id');
  if (!isIPv4(primaryAddress) || [mac, subnetId, networkId].includes('')) return undefined;
  const addresses = items(eni, 'private-ipsets').map((entry) => text(entry, 'private-ip-address'));
  const tags = textsByName(eni, 'tags');
  const index = text(eni, 'type') === 'Primary' ? 0 : slotIn(tags);
  return interfaceWith({
    id,
    networkId,
    subnetId,
    zone: text(eni, 'zone-id'),
    mac,
    primaryAddress,
    addresses: addresses.filter((address) => isIPv4(address) && address !== primaryAddress),
    securityGroupIds: texts(eni, 'security-groupids'),
    tags,
    attachment: attachedTo(instanceId, index, attachmentIdOf(id, instanceId)),
  });
}
