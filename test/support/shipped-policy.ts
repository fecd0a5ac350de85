// The IAM policy that Headwater ships. Whatever a test says, it is what a controller is held to in EC2.
import { readFileSync } from 'node:fs';
import { type IamPolicy, readIamPolicy } from '../../src/simulator/ec2/iam-policy.ts';

const file = new URL('../../docs/iam-policy.json', import.meta.url);

export const shippedPolicy: IamPolicy = readIamPolicy(readFileSync(file, 'utf8'));

/** What interfaces without tags need, as docs/aws-access.md tells: the statement about those of cilium-operator for all. */
export function withoutTagConditions({ Statement, ...policy }: IamPolicy): IamPolicy {
  const loosened = Statement.map((statement) =>
    statement.Sid === 'InterfacesThatCiliumOperatorMade' ? { ...statement, Condition: {} } : statement,
  );
  return { ...policy, Statement: loosened };
}
