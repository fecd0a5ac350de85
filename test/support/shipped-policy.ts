// The IAM policies that Headwater ships. They apply to the controllers of every test.
import { readFileSync } from 'node:fs';
import { type IamPolicy, readIamPolicy } from '../../src/simulator/ec2/iam-policy.ts';

export const shippedPolicy = policyIn('iam-policy.json');

/** Only the command check asks for it, and does without it. */
export const ofCheck = 'ec2:GetSubnetCidrReservations';

/** For the role of an account that shares subnets. */
export const networkAccountPolicy = policyIn('iam-policy-network-account.json');

function policyIn(file: string): IamPolicy {
  return readIamPolicy(readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8'));
}

/** What untagged interfaces need, as in docs/aws-access.md: the statement about those of cilium-operator, for all. */
export function withoutTagConditions({ Statement, ...policy }: IamPolicy): IamPolicy {
  const loosened = Statement.map((statement) =>
    statement.Sid === 'InterfacesThatCiliumOperatorMade' ? { ...statement, Condition: {} } : statement,
  );
  return { ...policy, Statement: loosened };
}
