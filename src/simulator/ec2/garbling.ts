// Garbles answers: some stay well-formed.
import type { Garbling } from '../cloud/faults.ts';
import type { Ec2Answer, Ec2Exchange } from './ec2-answer.ts';

type Output = Readonly<Record<string, unknown>>;

/** The answer that arrives instead. */
export function garble(form: Garbling, output: Ec2Answer): Ec2Exchange {
  const { members, shape } = output;
  switch (form) {
    case 'idsMissing':
      return { kind: 'answered', output: { members: withoutIds(members), shape } };
    case 'unknownEnum':
      return { kind: 'answered', output: { members: withUnknownEnums(members), shape } };
    default:
      return { kind: 'garbled', form, output };
  }
}

/** The output without any id. */
function withoutIds(output: Output): Output {
  return mapMembers(output, (member, value) => (/Ids?$/.test(member) ? undefined : value));
}

/** The output with unknown states. */
function withUnknownEnums(output: Output): Output {
  const enums = /^(Status|State|InterfaceType|Hypervisor|Name)$/;
  return mapMembers(output, (member, value) =>
    enums.test(member) && typeof value === 'string' ? 'quantum' : value,
  );
}

function mapMembers(output: Output, change: (member: string, value: unknown) => unknown): Output {
  return Object.fromEntries(
    Object.entries(output)
      .map(([member, value]) => [member, deepen(change(member, value), change)])
      .filter(([, value]) => value !== undefined),
  ) as Output;
}

function deepen(value: unknown, change: (member: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => deepen(item, change));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return mapMembers(value as Output, change);
}
