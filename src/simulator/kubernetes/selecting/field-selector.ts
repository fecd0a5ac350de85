// Field selectors: select the objects of a list or watch by the few fields that each resource supports.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/
import { badRequest } from '../api-status.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** The requirements of a selector in the server's order; throws `StatusError` with its text. */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  const terms = text.match(/(?:\\.|[^,\\])+/g) ?? [];
  return terms.toSorted().map((term) => {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, value = ''] = match;
    return { field, equal: operator !== '!=', value: unescaped(value) };
  });
}

function unescaped(value: string): string {
  const broken = /\\(?![\\,=]).?/s.exec(value.replaceAll(/\\[\\,=]/g, ''));
  if (broken !== null) throw badRequest(`invalid field selector: invalid escape sequence: ${broken[0]}`);
  if (value.replaceAll(/\\./g, '').includes('=')) {
    throw badRequest(`invalid field selector: unescaped character in value: ${'='.charCodeAt(0)}`);
  }
  return value.replaceAll(/\\(.)/gs, '$1');
}
