// The IAM policy that Headwater ships. It applies to the controllers of every test.
import { readFileSync } from 'node:fs';
import { type IamPolicy, readIamPolicy } from '../../src/simulator/ec2/iam-policy.ts';

const file = new URL('../../docs/iam-policy.json', import.meta.url);

export const shippedPolicy: IamPolicy = readIamPolicy(readFileSync(file, 'utf8'));

/** What untagged interfaces need, as in docs/aws-access.md: the statement about those of cilium-operator, for all. */
export function withoutTagConditions({ Statement, ...policy }: IamPolicy): IamPolicy {
  const loosened = Statement.map((statement) =>
    statement.Sid === 'InterfacesThatCiliumOperatorMade' ? { ...statement, Condition: {} } : statement,
  );
  return { ...policy, Statement: loosened };
}
