// The kinds of fields that a CiliumNode and its sections consist of. Messages say what is accepted. Zero, the empty
// string and absence are equivalent.
import * as z from 'zod';
import { isAbsent } from '../../runtime/json.ts';
import type {
  CiliumNodeSection,
  SectionReading,
  SectionRequirements,
} from '../contract/cilium-node-section.ts';
import type { Tags } from '../contract/network-interface.ts';

export const ipv4Wording = 'an IPv4 address like 10.0.0.1, without leading zeros,';
export const cidrWording = 'a network like 10.0.0.0/28';

/** Absent counts as 0. */
export function wholeNumber(max: number): z.ZodType<number> {
  const wording = `a whole number from 0 to ${max}`;
  return z
    .number(wording)
    .refine((value) => Number.isInteger(value) && value >= 0 && value <= max, wording)
    .nullish()
    .transform((value) => value ?? 0);
}

/** Goes into calls about many nodes at once: its text must not match other nodes or break the call. */
const cloudNameWording = 'a text of at most 512 characters without spaces and wildcards';
export const cloudName = z
  .string('a text')
  .regex(/^[^\s*?\\\p{C}]{0,512}$/u, cloudNameWording)
  .nullish()
  .transform((value) => value || undefined);

export function flag(byDefault: boolean): z.ZodType<boolean> {
  return z
    .boolean('true or false')
    .nullish()
    .transform((value) => value ?? byDefault);
}

export const noTexts: readonly string[] = Object.freeze([]);
export const noTags: Tags = Object.freeze({});

export const texts = z
  .array(z.string('a text'), 'a list of texts')
  .nullish()
  .transform((value): readonly string[] => value ?? noTexts);

export const tags = z
  .custom<Tags>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'a map of texts',
  )
  .superRefine((value, context) => {
    for (const [name, tag] of Object.entries<unknown>(value)) {
      if (typeof tag !== 'string') context.addIssue({ code: 'custom', path: [name], message: 'a text' });
    }
  })
  .nullish()
  .transform((value) => value ?? noTags);

/** Which of the fields are missing that a cloud with an API of interfaces needs, by their paths from `section`. */
export function missingFields(
  section: string,
  given: Readonly<Record<(typeof requiredFields)[number], string | undefined>>,
): readonly string[] {
  const missing = requiredFields.filter((name) => given[name] === undefined);
  return missing.length === 0 ? noTexts : missing.map((name) => `${section}.${name}`);
}

const requiredFields = ['instance-type', 'vpc-id', 'availability-zone'] as const;

export function readFields<T>(schema: z.ZodType<T>, raw: unknown): SectionReading<T> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return { value: parsed.data };
  return {
    problems: parsed.error.issues.map(({ path, message }) => ({
      path: path.map((part) => (typeof part === 'symbol' ? String(part) : part)),
      accepted: message,
    })),
  };
}

/** Reads the fields of a section. One that is absent, as `section` then lacks all of them, has each at its default. */
export function requirementsBy(
  section: string,
  schema: z.ZodType<SectionRequirements>,
): CiliumNodeSection['requirements'] {
  const absent = Object.freeze({ ...schema.parse({}), missing: [section] });
  return (given) => (isAbsent(given) ? { value: absent } : readFields(schema, given));
}
