// The order of the tests on a real API server: the longest first, so that three at a time end at about one time. Jest knows
// how long each took only from a cache, which is not there on a machine that is new.
const longest = [
  'kills',
  'hostile-agent',
  'blocks',
  'freeze',
  'azure',
  'missing-access',
  'alibaba',
  'pods',
  'pools',
  'api-trouble',
];

function rank({ path }) {
  const at = longest.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return at < 0 ? longest.length : at;
}

export default class LongestFirst {
  sort(tests) {
    return tests.toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
  }

  cacheResults() {}
}
