// Extracts texts from a source file: those for people, the fields of log lines, and the properties of its types.
import { parseSync } from '@swc/core';

export interface SourceTexts {
  /** Literals of more than one word, without names of random forks. */
  readonly sentences: readonly string[];
  readonly logFields: readonly string[];
  /** Properties of exported interfaces and types. */
  readonly properties: readonly string[];
}

interface SyntaxNode {
  readonly type?: string;
  readonly [property: string]: unknown;
}

const isNode = (value: unknown): value is SyntaxNode => typeof value === 'object' && value !== null;

const childrenOf = (node: SyntaxNode): readonly SyntaxNode[] =>
  Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode);

function* nodesOf(node: SyntaxNode, isSkipped: (each: SyntaxNode) => boolean): Generator<SyntaxNode> {
  if (isSkipped(node)) return;
  yield node;
  for (const child of childrenOf(node)) yield* nodesOf(child, isSkipped);
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return '';
  const { value } = node;
  return typeof value === 'string' ? value : nameOf(node['key'] ?? node['property'] ?? node['id']);
};

/** The names of a call expression: `this.#deps.log.info` contains `log`. */
function calledNames(call: SyntaxNode): readonly string[] {
  const names: string[] = [];
  let at: unknown = call['callee'];
  while (isNode(at)) {
    names.push(at.type === 'Identifier' ? String(at['value']) : nameOf(at['property']));
    at = at['object'];
  }
  return names;
}

const isCallOf =
  (...names: readonly string[]) =>
  (node: SyntaxNode): boolean =>
    node.type === 'CallExpression' && calledNames(node).some((name) => names.includes(name));

const isImport = ({ type }: SyntaxNode): boolean => type === 'ImportDeclaration';
const isFork = isCallOf('fork');

function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'StringLiteral') return String(node['value']);
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node['quasis'])) return undefined;
  return (node['quasis'] as { readonly cooked: string }[]).map(({ cooked }) => cooked).join('…');
}

export function textsOfSource(source: string): SourceTexts {
  const program = parseSync(source, { syntax: 'typescript', target: 'esnext' }) as unknown as SyntaxNode;
  const all = [...nodesOf(program, isImport)];
  const spoken = [...nodesOf(program, (node) => isImport(node) || isFork(node))];
  const logged = all.filter(isCallOf('log', '#log')).flatMap((call) => [...nodesOf(call, () => false)]);
  return {
    sentences: spoken.flatMap((node) => textOf(node) ?? []).filter((text) => /[a-z] /i.test(text)),
    logFields: logged
      .filter(({ type }) => type === 'ObjectExpression')
      .flatMap((node) => childrenOf(node).map((property) => nameOf(property))),
    properties: all
      .filter(({ type }) => type === 'ExportDeclaration')
      .flatMap((node) => [...nodesOf(node, () => false)])
      .filter(({ type }) => type === 'TsPropertySignature')
      .map((node) => nameOf(node)),
  };
}
