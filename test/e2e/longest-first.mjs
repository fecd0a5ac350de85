// The order of the tests on a real API server: the longest first, so that two at a time end at about the same time. Jest knows
// how long each took only from a cache, which is not there on a machine that is new.
const longest = ['kills', 'missing-access', 'freeze', 'api-trouble', 'pods', 'thousand-nodes', 'pools'];

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
