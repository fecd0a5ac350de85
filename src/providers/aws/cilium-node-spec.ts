// `spec.eni`: what an agent on AWS says of its instance and asks for its interfaces.
import * as z from 'zod';
import type { SectionReading, SectionRequirements } from '../contract/cilium-node-section.ts';
import {
  cloudName,
  flag,
  missingFields,
  readFields,
  tags,
  texts,
  wholeNumber,
} from '../section/section-fields.ts';

/** No instance has a higher device index, so a higher one would never yield an interface. */
const largestDeviceIndex = 255;

const fields = z.object(
  {
    'instance-id': cloudName,
    'instance-type': cloudName,
    'vpc-id': cloudName,
    'availability-zone': cloudName,
    'node-subnet-id': cloudName,
    'first-interface-index': wholeNumber(largestDeviceIndex),
    'security-groups': texts,
    'security-group-tags': tags,
    'subnet-ids': texts,
    'subnet-tags': tags,
    'exclude-interface-tags': tags,
    'delete-on-termination': flag(true),
    'use-primary-address': flag(false),
    'disable-prefix-delegation': flag(false),
  },
  'an object',
);

const spec = fields.transform(
  (given): SectionRequirements => ({
    missing: missingFields('spec.eni', given),
    instanceId: given['instance-id'],
    instanceType: given['instance-type'],
    networkId: given['vpc-id'],
    zone: given['availability-zone'],
    nodeSubnetId: given['node-subnet-id'],
    firstInterfaceIndex: given['first-interface-index'],
    securityGroupIds: given['security-groups'],
    securityGroupTags: given['security-group-tags'],
    subnetIds: given['subnet-ids'],
    subnetTags: given['subnet-tags'],
    excludeInterfaceTags: given['exclude-interface-tags'],
    deleteOnTermination: given['delete-on-termination'],
    usePrimaryAddress: given['use-primary-address'],
    disablePrefixDelegation: given['disable-prefix-delegation'],
  }),
);

const absent: SectionRequirements = Object.freeze({ ...spec.parse({}), missing: ['spec.eni'] });

export function eniRequirements(given: unknown): SectionReading<SectionRequirements> {
  return given === undefined || given === null ? { value: absent } : readFields(spec, given);
}
