import { expect, test } from '@jest/globals';
import { readIamPolicy } from '../../../../src/simulator/ec2/iam-policy.ts';
import { permissionsFor } from '../../../../src/simulator/ec2/permissions.ts';
import { gatewayRig, instance, subnet } from './gateway-rig.ts';

const owner = [{ Key: 'owner', Value: 'us' }];

/** The permissions that a call needs: `action resource`, with the number of known condition keys. */
async function checked(
  action: string,
  inputOf: (made: Readonly<Record<string, string>>) => object,
): Promise<unknown> {
  const { gateway, call } = gatewayRig();
  const tags = [{ ResourceType: 'network-interface', Tags: owner }];
  const { NetworkInterface: eni = {} } = await call('CreateNetworkInterface', {
    SubnetId: subnet,
    TagSpecifications: tags,
  });
  const { NetworkInterfaceId = '' } = eni as { NetworkInterfaceId?: string };
  const input = { NetworkInterfaceId, InstanceId: instance };
  const { AttachmentId = '' } = (await call('AttachNetworkInterface', { ...input, DeviceIndex: 1 })) as {
    AttachmentId?: string;
  };
  const permissions = permissionsFor(
    action,
    { ...inputOf({ NetworkInterfaceId, AttachmentId }) },
    gateway.network,
  );
  return permissions.map(({ action: name, resource, context }) => {
    const short = resource
      .replace('arn:aws:ec2:us-east-1:123456789012:', '')
      .replace(NetworkInterfaceId, 'eni');
    return `${name} ${short}: ${context === undefined ? 'unknown' : [...context.keys()].join(' ')}`;
  });
}

const ofEni = 'network-interface/eni: aws:ResourceTag/owner ec2:Vpc';
const ofInstance = `instance/${instance}: aws:ResourceTag/Name aws:ResourceTag/role`;

test.each<[string, string, (made: Readonly<Record<string, string>>) => object, readonly string[]]>([
  ['a read', 'DescribeVpcs', () => ({}), ['ec2:DescribeVpcs *: ']],
  [
    'a creation',
    'CreateNetworkInterface',
    () => ({ SubnetId: subnet, Groups: ['sg-0'], TagSpecifications: [{ Tags: owner }] }),
    [
      'ec2:CreateNetworkInterface network-interface/*: aws:RequestTag/owner',
      `ec2:CreateNetworkInterface subnet/${subnet}: aws:ResourceTag/Name ec2:Vpc`,
      'ec2:CreateNetworkInterface security-group/sg-0: unknown',
      'ec2:CreateTags network-interface/*: aws:RequestTag/owner ec2:CreateAction',
    ],
  ],
  [
    'a creation without tags',
    'CreateNetworkInterface',
    () => ({ SubnetId: subnet }),
    [
      'ec2:CreateNetworkInterface network-interface/*: ',
      `ec2:CreateNetworkInterface subnet/${subnet}: aws:ResourceTag/Name ec2:Vpc`,
    ],
  ],
  [
    'a detachment',
    'DetachNetworkInterface',
    ({ AttachmentId }) => ({ AttachmentId }),
    [`ec2:DetachNetworkInterface ${ofEni}`, `ec2:DetachNetworkInterface ${ofInstance}`],
  ],
  [
    'a detachment of nothing',
    'DetachNetworkInterface',
    () => ({ AttachmentId: 'eni-attach-0' }),
    [
      'ec2:DetachNetworkInterface network-interface/*: unknown',
      'ec2:DetachNetworkInterface instance/*: unknown',
    ],
  ],
  [
    'a change',
    'ModifyNetworkInterfaceAttribute',
    ({ NetworkInterfaceId }) => ({ NetworkInterfaceId }),
    [`ec2:ModifyNetworkInterfaceAttribute ${ofEni}`, `ec2:ModifyNetworkInterfaceAttribute ${ofInstance}`],
  ],
  [
    'an association',
    'AssociateAddress',
    ({ NetworkInterfaceId }) => ({ NetworkInterfaceId, AllocationId: 'eipalloc-0' }),
    [
      'ec2:AssociateAddress elastic-ip/eipalloc-0: unknown',
      `ec2:AssociateAddress ${ofEni}`,
      `ec2:AssociateAddress ${ofInstance}`,
    ],
  ],
])(
  'the permission for %s is checked for each resource that it touches',
  async (_, action, inputOf, expected) => {
    expect(await checked(action, inputOf)).toEqual(expected);
  },
);

test('a caller with a policy is refused what the policy does not allow, and other callers are not', async () => {
  const { gateway, codeOf, call } = gatewayRig();
  const checks: string[] = [];
  gateway.onChecked = ({ action }, isAllowed, { arn }) =>
    checks.push(`${arn.split('/')[1]} ${action} ${isAllowed ? 'allowed' : 'denied'}`);
  const policy = readIamPolicy(
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:DescribeVpcs","Resource":"*"}]}',
  );
  const input = { SubnetId: subnet };
  gateway.policies.set('arn:aws:iam::123456789012:user/somebody-else', policy);
  const before = await codeOf('CreateNetworkInterface', input);

  gateway.policies.set('arn:aws:iam::123456789012:user/tester', policy);

  expect(before).toBe('none');
  expect(await codeOf('DescribeVpcs')).toBe('none');
  await expect(call('DescribeSubnets')).rejects.toMatchObject({
    code: 'UnauthorizedOperation',
    status: 403,
    message:
      'You are not authorized to perform this operation. User: arn:aws:iam::123456789012:user/tester is not authorized to perform: ec2:DescribeSubnets because no identity-based policy allows the ec2:DescribeSubnets action',
  });
  await expect(call('CreateNetworkInterface', input)).rejects.toThrow(
    /ec2:CreateNetworkInterface on resource: arn:aws:ec2:us-east-1:123456789012:network-interface\/\* because .* Encoded authorization failure message: [0-9a-f]{60}$/,
  );
  expect(checks).toEqual([
    'tester ec2:DescribeVpcs allowed',
    'tester ec2:DescribeSubnets denied',
    'tester ec2:CreateNetworkInterface denied',
  ]);
});
