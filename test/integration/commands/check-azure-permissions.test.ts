// What the command check says of the permissions of an identity of Azure, by roles of the model.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { azureRole } from '../../support/azure-role.ts';
import { announceAzure, azureGroup, stageAzure, wrongIn } from './check-rig.ts';
import { type Ended, endAll } from './child.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-check-azure-'));
});
afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

const network = azureGroup.replace('mc_demo', 'network');
const pool = `${azureGroup}/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool1/virtualMachines/0`;
const subnets = `${network}/providers/Microsoft.Network/virtualNetworks/main/subnets`;
const ask = 'Microsoft.Authorization/permissions/read';

interface Role {
  readonly scope: string;
  readonly actions: readonly string[];
  readonly notActions?: readonly string[];
}

/** The example, whose identity has these roles. */
async function checkedWith(roles: readonly Role[], id = pool): Promise<Ended> {
  const place = await mkdtemp(join(directory, 'roles-'));
  const example = await readFile('src/simulator/arm/examples/small.yaml', 'utf8');
  const principal = {
    name: 'headwater',
    clientId: '00000000-0000-0000-0000-0000000000cc',
    secret: 'headwater-example-secret',
    roles,
  };
  const topology = join(place, 'topology.yaml');
  await writeFile(topology, `${example}\nprincipals: ${JSON.stringify([principal])}\n`);
  const { api, check } = await stageAzure(place, topology);
  await announceAzure(api, 'one', id);
  return check('--output=json');
}

/** The shipped role, and the optional permission to ask. */
const asking = [...azureRole, ask];

describe('headwater check on Azure', () => {
  test('finds that the shipped role permits what changes need, at machines and subnets, if it may ask', async () => {
    const ended = await checkedWith([
      { scope: azureGroup, actions: asking },
      { scope: network, actions: asking },
    ]);

    expect(wrongIn(ended)).toEqual([]);
    expect(ended.code).toBe(0);
    expect(ended.out).toContain(
      'the roles of its identity permit Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write at aks-pool1/0, Microsoft.Network/virtualNetworks/subnets/join/action at main/nodes and main/pods; not shown: deny assignments',
    );
  });

  test('names the action that is missing, and where a role is to be assigned', async () => {
    const ended = await checkedWith([
      { scope: azureGroup, actions: asking },
      { scope: network, actions: ['*/read'] },
      { scope: `${subnets}/nodes`, actions: asking },
    ]);

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      expect.stringMatching(
        /^problem permissions in the cloud: Microsoft\.Network\/virtualNetworks\/subnets\/join\/action at main\/pods is denied: AuthorizationFailed: no role of its identity permits it at .*\/subnets\/pods$/,
      ),
    ]);
    expect(ended.out).toMatch(
      /assign a role that permits Microsoft\.Network[^"]* at [^"]*\/subnets\/pods or above/,
    );
  });

  test('asks of a single machine at its interface', async () => {
    const machine = `${azureGroup}/providers/Microsoft.Compute/virtualMachines/jump`;
    const actions = asking.filter((action) => action !== 'Microsoft.Network/networkInterfaces/write');

    const ended = await checkedWith([{ scope: '/', actions }], machine);

    expect(ended.code).toBe(1);
    expect(wrongIn(ended)).toEqual([
      expect.stringMatching(
        /^problem [^:]*: Microsoft\.Network\/networkInterfaces\/write at jump-nic0 is denied/,
      ),
    ]);
  });

  test('warns of what it may not ask, and says which permission the question needs', async () => {
    const ended = await checkedWith([{ scope: '/', actions: azureRole }]);

    expect(ended.code).toBe(0);
    expect(wrongIn(ended)).toEqual([
      expect.stringMatching(
        /^warning permissions in the cloud: Microsoft\.Compute[^:]* may not be asked about: /,
      ),
    ]);
    expect(ended.out).toContain(`allow ${ask} to Headwater's role`);
  });
});
