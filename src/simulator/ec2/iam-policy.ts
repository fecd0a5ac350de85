// Evaluates IAM policies: the part of the language that plain grants need. Refuses a policy with anything
// else when it is parsed, so nothing in it is ignored.
import * as z from 'zod';

/** One permission that a call needs. */
export interface Permission {
  /** As policies name it, such as `ec2:CreateTags`. */
  readonly action: string;
  /** ARN of the target; `*` if the service checks no resource. */
  readonly resource: string;
  /** Values by condition key; undefined if unknown because the resource does not exist. */
  readonly context: ReadonlyMap<string, string> | undefined;
}

/** Whether a request's value, if any, satisfies a pattern. */
const operators = {
  StringEquals: (value: string, wanted: string) => value === wanted,
  StringLike: isLike,
  ArnLike: isLike,
} as const;

const texts = z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)]);
const comparisons = z.record(z.string(), texts).optional();

const schema = z.strictObject({
  Version: z.literal('2012-10-17'),
  Statement: z
    .array(
      z.strictObject({
        Sid: z.string().optional(),
        Effect: z.literal('Allow'),
        Action: texts,
        Resource: texts,
        Condition: z
          .strictObject({ StringEquals: comparisons, StringLike: comparisons, ArnLike: comparisons })
          .default({}),
      }),
    )
    .min(1),
});

export type IamPolicy = z.output<typeof schema>;
type Statement = IamPolicy['Statement'][number];

/** Throws if the text is not a policy or uses unsupported features. */
export function readIamPolicy(text: string): IamPolicy {
  return schema.parse(JSON.parse(text));
}

/** Whether a statement of the policy allows it. */
export function isAllowed(policy: IamPolicy, wanted: Permission): boolean {
  return policy.Statement.some((statement) => allows(statement, wanted));
}

function allows(statement: Statement, { action, resource, context }: Permission): boolean {
  const { Action, Resource, Condition } = statement;
  return (
    Action.some((pattern) => isLike(action.toLowerCase(), pattern.toLowerCase())) &&
    Resource.some((pattern) => isLike(resource, pattern)) &&
    (context === undefined || isMet(Condition, context))
  );
}

/** Every key of every operator must match; a key that the request lacks never matches. */
function isMet(condition: Statement['Condition'], context: ReadonlyMap<string, string>): boolean {
  const names = ['StringEquals', 'StringLike', 'ArnLike'] as const;
  return names.every((name) =>
    Object.entries(condition[name] ?? {}).every(([key, wanted]) => {
      const value = context.get(key);
      return value !== undefined && wanted.some((each) => operators[name](value, each));
    }),
  );
}

/** `*` stands for any text, `?` for any character. */
function isLike(value: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(value);
}
