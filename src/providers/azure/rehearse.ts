// Asks Azure what the roles of our identity permit at the resources that Headwater changes, and changes nothing. Azure shows neither
// deny assignments, as of a locked node resource group, nor locks and policies: each of them may refuse what a role permits.
import type { CallContext } from '../contract/cloud.ts';
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import type { Rehearsal, RehearsalRefusal, Rehearsals, RehearsedNode } from '../contract/rehearsal.ts';
import { type ArmRequest } from './arm-api.ts';
import { isObject, type Json, valueAt } from '../../runtime/json.ts';
import { type ArmClient, unreadable } from './arm-client.ts';
import { type ArmId, groupKey, parseArmId, parseInstanceId, scaleSetKey } from './ids.ts';
import type { PublicIpPrefixes } from './public-ip-prefixes.ts';
import { permissionsAt } from './requests.ts';

/** An action as roles name it, and a resource that Headwater does it to. */
interface Question {
  readonly action: string;
  /** A resource id. */
  readonly scope: string;
}

/** Places that are asked about an action: roles are assigned to groups of resources rather than to single ones. */
const maxPlaces = 3;

const instanceWrite = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write';
const interfaceWrite = 'Microsoft.Network/networkInterfaces/write';
const subnetJoin = 'Microsoft.Network/virtualNetworks/subnets/join/action';
const prefixJoin = 'Microsoft.Network/publicIPPrefixes/join/action';
const permissionsRead = 'Microsoft.Authorization/permissions/read';

export async function rehearse(
  { client, prefixes }: { readonly client: ArmClient; readonly prefixes: PublicIpPrefixes },
  nodes: readonly RehearsedNode[],
  context: CallContext,
): Promise<Rehearsals> {
  const ofPrefixes = await prefixQuestions(prefixes, nodes, context);
  const questions = [...nodes.flatMap(questionsOf), ...ofPrefixes.questions];
  const chosen = [...Map.groupBy(questions, ({ action }) => action).values()].flatMap(onePerPlace);
  const answers = await Promise.all(chosen.map(async (each) => answerTo(client, each, context)));
  return {
    witness: 'the roles of its identity permit',
    unshown:
      'not shown: deny assignments, locks and policies, and permissions on what else the interfaces use, such as load balancers',
    answers: [...inRows(answers), ...ofPrefixes.failed],
  };
}

/** An update of a VM names each subnet of its interfaces again. */
function questionsOf({ instanceId, interfaces }: RehearsedNode): readonly Question[] {
  const changed =
    parseInstanceId(instanceId)?.kind === 'scaleSetVm'
      ? [{ action: instanceWrite, scope: instanceId }]
      : interfaces.map(({ id }) => ({ action: interfaceWrite, scope: id }));
  return [...changed, ...interfaces.map(({ subnetId }) => ({ action: subnetJoin, scope: subnetId }))];
}

/** Only VMs of scale sets get public addresses. */
async function prefixQuestions(
  prefixes: PublicIpPrefixes,
  nodes: readonly RehearsedNode[],
  context: CallContext,
): Promise<{ readonly questions: readonly Question[]; readonly failed: readonly Rehearsal[] }> {
  const asking = nodes.find(
    ({ instanceId, publicAddressTags }) =>
      Object.keys(publicAddressTags).length > 0 && parseInstanceId(instanceId)?.kind === 'scaleSetVm',
  );
  if (asking === undefined) return { questions: [], failed: [] };
  try {
    const { addresses } = await prefixes.read(asking.publicAddressTags, context);
    const scopes = addresses.flatMap(({ source }) => source ?? []);
    return { questions: scopes.map((scope) => ({ action: prefixJoin, scope })), failed: [] };
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    const answer: RehearsalRefusal = { kind: 'unanswered', failure: error.failure };
    return { questions: [], failed: [{ action: prefixJoin, answer }] };
  }
}

function onePerPlace(questions: readonly Question[]): readonly Question[] {
  const places = new Map(questions.map((each) => [placeOf(each), each] as const));
  return [...places.values()].slice(0, maxPlaces);
}

/** The scope of a role that is hardly assigned to a part of it. */
function placeOf({ action, scope }: Question): string {
  const instance = parseInstanceId(scope);
  const id = parseArmId(scope);
  const place = instance === undefined ? undefined : scaleSetKey(instance);
  if (action !== interfaceWrite || id === undefined) return place ?? scope.toLowerCase();
  return groupKey(id).toLowerCase();
}

/** A failure is that of the question itself. */
type Answer = Question & { readonly answer: 'permitted' | 'denied' | CloudFailure };

async function answerTo(client: ArmClient, question: Question, context: CallContext): Promise<Answer> {
  const { action, scope } = question;
  const id = parseArmId(scope);
  try {
    if (id === undefined) throw unreadable({ operation: 'Permissions.ListForResource' }, `no id: ${scope}`);
    return { ...question, answer: (await permits(client, id, action, context)) ? 'permitted' : 'denied' };
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return { ...question, answer: withPermission(error.failure) };
  }
}

/** Some denials name no permission. */
function withPermission(failure: CloudFailure): CloudFailure {
  const { kind, permission, credentials, remedy } = failure;
  const isUnexplained = permission === undefined && credentials === undefined && remedy === undefined;
  return kind === 'notAuthorized' && isUnexplained ? { ...failure, permission: permissionsRead } : failure;
}

async function permits(client: ArmClient, id: ArmId, action: string, context: CallContext): Promise<boolean> {
  const request = permissionsAt(id);
  const { items } = await client.readList(request, (item) => permissionIn(item, request), context);
  return items.some(
    ({ actions, notActions }) =>
      actions.some((pattern) => matches(pattern, action)) &&
      !notActions.some((pattern) => matches(pattern, action)),
  );
}

interface Permission {
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
}

/** Rejects anything that is no permission: nothing follows from it, least of all a denial. */
function permissionIn(item: Json, request: ArmRequest): Permission {
  if (!isObject(item) || !('actions' in item)) throw unreadable(request, 'a permission has no actions');
  return {
    actions: patternsIn(item, 'actions', request),
    notActions: patternsIn(item, 'notActions', request),
  };
}

function patternsIn(item: Json, name: string, request: ArmRequest): readonly string[] {
  const found: unknown = valueAt(item, name) ?? [];
  if (!Array.isArray(found) || !found.every((each) => typeof each === 'string'))
    throw unreadable(request, `${name} is no list of texts`);
  return found;
}

/** `*` stands for any text; case does not count. Takes no longer for many of them. */
function matches(pattern: string, action: string): boolean {
  const text = action.toLowerCase();
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  if (last === undefined) return first === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** A row for each action that is permitted or denied, and a row for all questions that failed alike. */
function inRows(answers: readonly Answer[]): readonly Rehearsal[] {
  const rows = Map.groupBy(answers, ({ action, answer }) => {
    if (typeof answer === 'string') return `${answer} ${action}`;
    const { kind, code, permission = '' } = answer;
    return `${kind} ${code} ${permission}`;
  });
  return [...rows.values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const { action, answer } = first;
    const byAction = [...Map.groupBy(alike, (each) => each.action)];
    const named = byAction.map(
      ([each, at]) => `${each} at ${at.map(({ scope }) => shortOf(scope)).join(' and ')}`,
    );
    return [{ action: named.join(', '), answer: rehearsalOf(answer, action, alike) }];
  });
}

function rehearsalOf(
  answer: Answer['answer'],
  action: string,
  alike: readonly Question[],
): Rehearsal['answer'] {
  if (answer === 'permitted') return answer;
  if (answer !== 'denied') return { kind: 'unanswered', failure: answer };
  const scopes = alike.map(({ scope }) => scope).join(' and ');
  const failure: CloudFailure = {
    kind: 'notAuthorized',
    action,
    // Azure would answer the change with it.
    code: 'AuthorizationFailed',
    message: `no role of its identity permits it at ${scopes}`,
    requestId: undefined,
    remedy: `assign a role that permits ${action}, as docs/azure-role.json does, at ${scopes} or above`,
  };
  return { kind: 'denied', failure };
}

/** The names of a resource without its types and group. */
function shortOf(scope: string): string {
  return parseArmId(scope)?.names.join('/') ?? scope;
}
