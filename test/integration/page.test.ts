// The page in a browser.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { HttpServer } from '../../src/observability/http-server.ts';
import { browserProgram, servePage } from '../support/page-server.ts';

const program = browserProgram();
const whereABrowserIs = program === undefined ? describe.skip : describe;

const hostile = '<script>document.title = "taken"</script>';
const report = {
  version: '0.1.0',
  ready: false,
  notReadyBecause: 'it reads the cloud',
  state: 'leading',
  identity: 'controller-1',
  paused: [],
  denied: [{ permission: 'ec2:CreateNetworkInterface', remedy: 'allow it to the role' }],
  reasons: { SubnetsExhausted: 1 },
  nodes: { total: 5000, satisfied: 4999, in_deficit: 0, at_capacity: 0, blocked: 1, unknown: 0 },
  addresses: { available: 90_000, used: 70_000, needed: 12, releasing: 0 },
  pendingPods: 3,
  inDeficit: [{ name: 'node-7', reason: 'SubnetsExhausted', why: `give ${hostile} more room` }],
  warnings: [
    { node: 'node-7', reason: 'AgentCannotStart', why: 'lower it' },
    { node: 'node-9', reason: 'MaxPodsTooHigh', why: 'set maxPods' },
  ],
  pools: [
    { pool: hostile, cidr: '10.0.0.0/16', maskSize: 24, capacity: 256, held: 256, free: 0, waiting: 1 },
    { pool: 'two', cidr: '10.1.0.0/16', maskSize: 24, capacity: 256, held: 256, free: 0, waiting: 0 },
    { pool: 'two', cidr: '10.2.0.0/16', maskSize: 24, capacity: 256, held: 0, free: 256, waiting: 0 },
  ],
  buckets: [],
};
const names = Array.from({ length: 5000 }, (_, index) => `node-${index}`);
const nodeNames = { satisfied: names.filter((name) => name !== 'node-7'), blocked: ['node-7'] };
const subnets = {
  ...report,
  pools: undefined,
  subnets: [
    ['pods-a', 4000, true],
    ['pods-b', 0, false],
    ['pods-c', 0, true],
  ].map(([name, free, counted]) => ({
    id: `subnet-${String(name)}`,
    name,
    zone: 'zone-1',
    cidr: '10.0.0.0/20',
    counted,
    size: 4096,
    free,
    reserved: 0,
    exhausted: false,
    fragmented: false,
    held: 90,
    used: 40,
  })),
};
const standby = { state: 'standby', identity: 'controller-2', leader: 'controller-1', paused: [] };
const node = {
  known: true,
  name: 'node-7',
  standing: 'blocked',
  reason: 'SubnetsExhausted',
  why: `give ${hostile} more room`,
  next: { inSeconds: 30, what: 'a subnet has room', sooner: ['a new subnet'] },
};

let browser: Browser;
let server: HttpServer;
let page: Page;
let complaints: string[];
let shown: object;
let asked: number;

beforeAll(async () => {
  if (program === undefined) return;
  browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  server = await servePage({
    status: (withNodes) => {
      asked++;
      return withNodes ? { ...shown, ...('nodes' in shown && { nodeNames }) } : shown;
    },
    node: (name) =>
      names.includes(name) ? { ...node, name } : { known: false, state: 'leading', nearest: node.name },
  });
});

afterEach(() => page.close());

afterAll(async () => {
  if (program === undefined) return;
  await browser.close();
  await server.close();
});

async function open(
  options: Parameters<Browser['newPage']>[0] = {},
  {
    hash = '',
    of = report,
  }: { readonly hash?: string; readonly of?: typeof report | typeof standby | typeof subnets } = {},
): Promise<void> {
  shown = of;
  asked = 0;
  page = await browser.newPage(options);
  await page.clock.install();
  complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`http://127.0.0.1:${server.address.port}/${hash}`);
  await page.getByRole('heading', { name: `${of.identity}: ${of.state}` }).waitFor();
}

const focused = (attribute: string): Promise<unknown> => page.evaluate(`document.activeElement.${attribute}`);

/** The lowest contrast of text against the page, as https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio has it. */
const leastContrast = `
  const luminance = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = luminance(getComputedStyle(document.documentElement).backgroundColor);
  Math.min(...[...document.querySelectorAll('main p, main span, main dt, main dd, main td, main th, main li, main h2, main h3, main small, main li a, main button')]
    .map((element) => luminance(getComputedStyle(element).color))
    .map((own) => (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05)))
`;

whereABrowserIs('the page', () => {
  test('shows what is wrong, with the remedy, and a tile for each of 5,000 nodes', async () => {
    await open();

    await page.getByText('1 node with a reason; pods that wait: 3; 1 permission denied').waitFor();
    await page.getByText('ec2:CreateNetworkInterface: allow it to the role').waitFor();
    await page.getByText('it reads the cloud').first().waitFor();
    expect(await page.locator('.tiles a').count()).toBe(5000);
    expect(await page.locator('.map h3').allTextContents()).toEqual([
      '1 blocked',
      '1 satisfied, with a warning',
      '4998 satisfied',
    ]);
    expect(complaints).toEqual([]);
  });

  test('shows names as they are, and runs none of them', async () => {
    await open();

    await page.getByRole('rowheader', { name: hostile }).waitFor();
    expect(await page.title()).toBe('Headwater');
    expect(complaints).toEqual([]);
  });

  test('counts blocks of pools', async () => {
    await open();
    const table = page.getByRole('region', { name: 'Pools' });

    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      'name',
      'free blocks',
      'of',
      'taken',
      'state',
      'free blocks since this page is open',
    ]);
    expect(await table.getByRole('cell').allTextContents()).toEqual(
      [
        ['0', '256', ' 100 %', 'exhausted, 1 waiting', ''],
        ['0', '256', ' 100 %', 'full', ''],
        ['256', '256', ' 0 %', '', ''],
      ].flat(),
    );
  });

  test('counts addresses of subnets, the fullest first, and none before the cloud shows them', async () => {
    await open({}, { of: subnets });
    const rows = page.getByRole('region', { name: 'Subnets' }).locator('tbody tr');
    const read = page.waitForResponse('**/status?nodes');
    await page.clock.runFor(5000);
    await read;
    await page
      .getByText(/^no change in [0-9]+ s$/)
      .first()
      .waitFor();

    const cells = await Promise.all(
      [0, 1, 2].map((index) => rows.nth(index).locator('th, td').allTextContents()),
    );
    expect(cells.map((row) => row.map((text) => text.replace(/[0-9]+ s$/, 'N s')))).toEqual([
      ['pods-czone-1 10.0.0.0/20', '0', '4096', ' 100 %', '90', '40', 'exhausted', 'no change in N s'],
      ['pods-azone-1 10.0.0.0/20', '4000', '4096', ' 2 %', '90', '40', '', 'no change in N s'],
      ['pods-bzone-1 10.0.0.0/20', '?', '4096', '', '90', '40', 'not counted yet', ''],
    ]);
  });

  test('explains a node that is chosen by keyboard, and goes back', async () => {
    await open();

    const link = page.getByRole('link', { name: 'node-7', exact: true }).first();
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();
    await page.getByText('in 30 s, when a subnet has room').waitFor();
    expect(await focused('textContent')).toBe('Node node-7');
    await page.getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor({ state: 'detached' });
    await page.waitForFunction("document.activeElement.textContent === 'node-7'");
    expect(complaints).toEqual([]);
  });

  test('names each node in its tile, and leads from tile to tile by one tab stop for each state', async () => {
    await open({ viewport: { width: 1200, height: 800 } });
    const group = (name: string) => page.getByRole('group', { name }).getByRole('link');
    const well = group('4998 satisfied');

    expect(await group('1 blocked').first().getAttribute('title')).toBe(
      `node-7: blocked: SubnetsExhausted: give ${hostile} more room`,
    );
    expect(await group('with a warning').first().getAttribute('title')).toBe(
      'node-9: satisfied: MaxPodsTooHigh: set maxPods',
    );
    await well.first().focus();
    const met: unknown[] = [await focused('title')];
    for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowLeft', 'End', 'ArrowDown', 'Home', 'ArrowRight']) {
      await page.keyboard.press(key);
      met.push(await focused('title'));
    }
    expect(met).toEqual([0, 1, 0, 0, 4999, 4999, 0, 1].map((index) => `node-${index}: satisfied`));
    await page.keyboard.press('ArrowDown');
    const [above, below] = [await well.nth(1).boundingBox(), await page.locator(':focus').boundingBox()];
    expect(below?.x).toBe(above?.x);
    expect(below?.y).toBeGreaterThan(above?.y ?? Infinity);
    await page.keyboard.press('Shift+Tab');
    expect(await focused('title')).toMatch(/^node-9: /);
    await page.keyboard.press('Shift+Tab');
    expect(await focused('title')).toMatch(/^node-7: /);
    await page.keyboard.press('Shift+Tab');
    expect(await focused('textContent')).toBe('Explain');
    expect(complaints).toEqual([]);
  });

  test.each(['click', 'Enter'])('explains a node that is well on %s of its tile', async (way) => {
    await open();
    const tile = page.getByRole('link', { name: 'node-12: satisfied', exact: true });

    if (way === 'click') await tile.click();
    else await tile.press('Enter');

    await page.getByRole('heading', { name: 'Node node-12', exact: true }).waitFor();
    await page.waitForFunction("document.querySelector('[aria-current]')?.title === 'node-12: satisfied'");
    expect(complaints).toEqual([]);
  });

  test('shows the node of a tile that has the focus or the pointer', async () => {
    await open();

    await page.getByRole('link', { name: 'node-12: satisfied', exact: true }).focus();
    await page.getByText('node-12: satisfied').waitFor();
    await page.getByRole('link', { name: 'node-15: satisfied', exact: true }).hover();
    await page.getByText('node-15: satisfied').waitFor();
  });

  test('finds a node by a part of its name', async () => {
    await open();
    const box = page.getByRole('searchbox', { name: 'Find a node' });

    await box.fill('e-42');
    await page.getByText('111 matches, the first 10 of them:').waitFor();
    expect(await page.locator('.found a').allTextContents()).toEqual(
      ['', 0, 1, 2, 3, 4, 5, 6, 7, 8].map((digit) => `node-42${digit}`),
    );
    await box.fill('4242');
    await page.getByText('1 match', { exact: true }).waitFor();
    await box.press('Enter');
    await page.getByRole('heading', { name: 'Node node-4242' }).waitFor();
    await box.fill('node-42');
    await box.press('Enter');
    await page.getByRole('heading', { name: 'Node node-42', exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('of a standby names the leader, and shows no nodes', async () => {
    await open({}, { of: standby });

    await page.getByText('The leader is controller-1: its page has the whole report.').waitFor();
    expect(await page.getByRole('heading').allTextContents()).toEqual(['Headwater', 'controller-2: standby']);
    expect(complaints).toEqual([]);
  });

  test('says what is wrong when the controller no longer answers, and recovers', async () => {
    await open();

    await page.route('**/status*', (route) => route.abort());
    await page.clock.runFor(5000);
    await page.getByRole('alert').getByText('the controller does not answer').waitFor();
    expect(await page.locator('.tiles a').count()).toBe(5000);
    await page.unroute('**/status*');
    await page.clock.runFor(5000);
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('asks for nothing while nobody sees it', async () => {
    await open();
    const hide = (isHidden: boolean): Promise<unknown> =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })`,
      );

    await hide(true);
    const before = asked;
    await page.clock.runFor(60_000);
    await page.evaluate("fetch('healthz').then((answer) => answer.text())");
    expect(asked).toBe(before);
    await hide(false);
    await Promise.all([
      page.waitForResponse('**/status?nodes'),
      page.evaluate("document.dispatchEvent(new Event('visibilitychange'))"),
    ]);
  });

  test('reads nothing but /status', async () => {
    const asked: string[] = [];
    const listen = (url: string): void => void asked.push(new URL(url).pathname);
    page = await browser.newPage();
    page.on('request', (request) => listen(request.url()));
    shown = report;
    await page.goto(`http://127.0.0.1:${server.address.port}/#node=node-7`);
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();

    expect(new Set(asked)).toEqual(new Set(['/', '/status']));
  });

  test('names the nearest node where none has the name', async () => {
    await open();

    await page.getByLabel('Find a node').fill('pod-7');
    await page.getByRole('button', { name: 'Explain' }).click();

    await page.getByText('Did you mean node-7?').waitFor();
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  test.each([400, 800, 2000])('fits a window of %d pixels', async (width) => {
    await open({ viewport: { width, height: 800 } }, { hash: '#node=node-7' });
    await page.getByRole('heading', { name: 'Node node-7' }).waitFor();

    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

    expect(overflow).toBeLessThanOrEqual(0);
  });

  test.each(['light', 'dark'] as const)('has enough contrast where the system is %s', async (colorScheme) => {
    await open({ colorScheme });

    expect(await page.evaluate(leastContrast)).toBeGreaterThanOrEqual(4.5);
  });
});
