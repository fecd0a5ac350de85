// Rules for names, keys and label values. Each returns the errors of a text with the API server's words.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set

/** Errors of a text; empty if it is valid. */
export type TextRule = (text: string) => readonly string[];

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedPart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const configKeyForm = /^[-._a-zA-Z0-9]+$/;

const edges = 'must start and end with an alphanumeric character';
const labelText = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and ${edges}`;
const subdomainText = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ${edges}`;
const qualifiedText = `must consist of alphanumeric characters, '-', '_' or '.', and ${edges}`;
const labelValueText = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and ${edges}`;
const empty = 'must be non-empty';

const max = (maximum: number): string => `must be no more than ${maximum} characters`;

function shouldMatch(rule: string, form: RegExp, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}'`).join(',  or ');
  return `${rule} (e.g. ${shown}, regex used for validation is '${form.source.slice(1, -1)}')`;
}

/** Most names: dots allowed, at most 253 characters. */
export const dnsSubdomain: TextRule = (text) => [
  ...(text.length > 253 ? [max(253)] : []),
  ...(subdomain.test(text) ? [] : [shouldMatch(subdomainText, subdomain, 'example.com')]),
];

/** Names of namespaces and containers: no dots, at most 63 characters. */
export const dnsLabel: TextRule = (text) => [...(text.length > 63 ? [max(63)] : []), ...dnsLabelForm(text)];

function dnsLabelForm(text: string): readonly string[] {
  if (label.test(text)) return [];
  return subdomain.test(text)
    ? ['must not contain dots']
    : [shouldMatch(labelText, label, 'my-name', '123-abc')];
}

/** Keys of labels and annotations, and finalizers: a name with an optional domain prefix. */
export const qualifiedName: TextRule = (text) => {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) {
    const hint = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a qualified name ${qualifiedForm()} ${hint}`];
  }
  return [
    ...(parts.length === 2 ? prefixProblems(parts[0] ?? '') : []),
    ...(name === '' ? [`name part ${empty}`] : []),
    ...(name.length > 63 ? [`name part ${max(63)}`] : []),
    ...(qualifiedPart.test(name) ? [] : [`name part ${qualifiedForm()}`]),
  ];
};

function qualifiedForm(): string {
  return shouldMatch(qualifiedText, qualifiedPart, 'MyName', 'my.name', '123-abc');
}

function prefixProblems(prefix: string): readonly string[] {
  if (prefix === '') return [`prefix part ${empty}`];
  return dnsSubdomain(prefix).map((problem) => `prefix part ${problem}`);
}

export const labelValueRule: TextRule = (text) => [
  ...(text.length > 63 ? [max(63)] : []),
  ...(labelValue.test(text) ? [] : [shouldMatch(labelValueText, labelValue, 'MyValue', 'my_value', '12345')]),
];

/** Keys of a ConfigMap. */
export const configKey: TextRule = (text) => {
  const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  return [
    ...(text.length > 253 ? [max(253)] : []),
    ...(configKeyForm.test(text)
      ? configKeyTraps(text)
      : [shouldMatch(rule, configKeyForm, 'key.name', 'KEY_NAME', 'key-name')]),
  ];
};

function configKeyTraps(text: string): readonly string[] {
  if (text === '.') return ["must not be '.'"];
  if (text === '..') return ["must not be '..'"];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Required of every name, because it is part of a path. */
export const pathSegment: TextRule = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
};

/** The rule for the prefix of a generated name; a trailing dash is allowed. */
export function prefixRule(rule: TextRule): TextRule {
  return (text) => rule(text.endsWith('-') ? `${text.slice(0, -2)}a` : text);
}
