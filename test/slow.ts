/**
 * Tests that play what all pages show, kill processes, race, play histories, take pictures, compile with the tools of others, or try a second database with what
 * another file tries with the first: 2 of 100 tests, and half of the time. `npm run check` leaves them out and says so, `npm run
 * check:slow` runs them alone, CI runs all at once (`.ci/run`), these last and in this order. A path that ends with a slash is a folder.
 */
export const SLOW_TESTS = [
  // Every command that a page shows, and programs of others that talk with ours.
  'test/docs/pages.test.ts',
  'test/e2e/gateway.test.ts',
  'test/e2e/mcp-stdio.test.ts',
  // What is bounded, filled to its bound.
  'test/server/bounds.test.ts',
  // Processes that are killed, cut off and started again.
  'test/torture/',
  'test/e2e/cluster-life.test.ts',
  'test/e2e/crowded-database.test.ts',
  'test/e2e/failpoints.test.ts',
  'test/e2e/handover.test.ts',
  'test/e2e/kill-effects.test.ts',
  'test/e2e/kill-login.test.ts',
  'test/e2e/kill-notices.test.ts',
  'test/e2e/kill-undo.test.ts',
  'test/e2e/kill-waits.test.ts',
  'test/e2e/life-states.test.ts',
  'test/e2e/peer-text.test.ts',
  'test/e2e/two-servers.test.ts',
  'test/server/mcp/conformance-client.test.ts',
  'test/engine/client-gate-crash.test.ts',
  'test/engine/crash.test.ts',
  'test/engine/undo-crash.test.ts',
  // Histories, races and generated policies by the hundred.
  'test/authority/sound.test.ts',
  'test/engine/effect-races.test.ts',
  'test/engine/leases.test.ts',
  'test/engine/races.test.ts',
  'test/engine/simulator.test.ts',
  'test/engine/simulator-controls.test.ts',
  'test/policy/proofs.test.ts',
  'test/server/many-readers.test.ts',
  'test/server/notify/long-outbox.test.ts',
  'test/server/rows-read.test.ts',
  'test/server/verb-races.test.ts',
  'test/store/same-decisions.test.ts',
  // On PostgreSQL what is tried on SQLite; the contract of the store itself is not slow.
  'test/server/matrix-postgres.test.ts',
  'test/server/verbs-postgres.test.ts',
  'test/store/postgres-own.test.ts',
  // Every screen at every size.
  'test/console/screens.test.ts',
  // Generators and compilers of others, and whole pipelines.
  'test/api/generated.test.ts',
  'test/api/openapi.test.ts',
  'test/api/tools.test.ts',
  'test/server/mcp/conformance.test.ts',
  'test/blobs/strangers.test.ts',
  'test/client/package.test.ts',
  'test/client/python.test.ts',
  'test/deploy/compose.test.ts',
  'test/deploy/dockerfile.test.ts',
  'test/editors/vscode.test.ts',
  'test/examples/pipelines.test.ts',
]

/** Where a file of tests, as a path below the root of the project, stands in the list; -1 if it is not slow. */
export const placeOfSlow = (path: string): number => SLOW_TESTS.findIndex((each) => path.startsWith(each))

export const isSlowTest = (path: string): boolean => placeOfSlow(path) >= 0

/** Which tests `SVC_TEST_SLOW` asks for: only the slow ones (`only`), the others (`without`), or all (`all`, or nothing). */
export const chosenTests = process.env['SVC_TEST_SLOW'] ?? 'all'
