// Validates an input against its shape: unknown and missing members, and the values.
import { Ec2Refusal, invalidParameterValue, missingParameter } from './ec2-refusal.ts';
import { refuseMalformedId } from './ids.ts';
import type { Fields, ListShape, Members, RecordShape, Shape, TextShape } from './shape.ts';

/** Returns the input with the type of `shape`. */
export function accept<F extends Fields>(shape: RecordShape<F>, input: unknown): Members<F> {
  checkRecord(shape, input, '');
  return input as Members<F>;
}

function check(shape: Shape, value: unknown, name: string): void {
  switch (shape.kind) {
    case 'text':
      return checkText(shape, value, name);
    case 'integer':
      return checkThat(Number.isSafeInteger(value), value, name);
    case 'flag':
      return checkThat(typeof value === 'boolean', value, name);
    case 'time':
      return checkThat(value instanceof Date, value, name);
    case 'list':
      return checkList(shape, value, name);
    case 'record':
      return checkRecord(shape, value, name);
  }
}

function checkThat(right: boolean, value: unknown, name: string): void {
  if (!right) throw wrongValue(value, name);
}

function checkList(shape: ListShape, value: unknown, name: string): void {
  if (!Array.isArray(value)) throw wrongValue(value, name);
  value.forEach((item, index) => check(shape.item, item, `${name}.${index + 1}`));
}

function checkRecord(shape: RecordShape, value: unknown, name: string): void {
  if (!isRecord(value)) throw wrongValue(value, name);
  const at = (member: string): string => (name === '' ? member : `${name}.${member}`);
  for (const member of Object.keys(value)) {
    if (shape.fields[member] === undefined && value[member] !== undefined) throw unknownParameter(at(member));
  }
  for (const [member, field] of Object.entries(shape.fields)) {
    const given = value[member];
    if (given !== undefined) check(field, given, at(member));
    else if (field.required === true) throw missingParameter(at(lowerFirst(member)));
  }
}

function checkText(shape: TextShape, value: unknown, name: string): void {
  if (typeof value !== 'string') throw wrongValue(value, name);
  if (shape.values !== undefined && !shape.values.includes(value)) throw wrongValue(value, name);
  if (shape.id !== undefined) refuseMalformedId(shape.id, value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrongValue(value: unknown, name: string): Ec2Refusal {
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return invalidParameterValue(`Value (${shown}) for parameter ${lowerFirst(name)} is invalid.`);
}

/** EC2's refusal of an unknown parameter. */
export function unknownParameter(name: string): Ec2Refusal {
  return new Ec2Refusal('UnknownParameter', `The parameter ${name} is not recognized`);
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
