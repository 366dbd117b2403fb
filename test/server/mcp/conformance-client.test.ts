/** The protocol's own tests of clients against svc as a client: calls, questions, and consent. Their program needs what that of servers needs. */
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { execute } from '../../api/tools/installed.ts'
import { isLong } from '../../cases.ts'
import { CONFORMANCE, conformanceRuntime, isConformanceInstalled } from './conformance-suite.ts'

const TSX = resolve(import.meta.dirname, '../../../node_modules/tsx/dist/cli.mjs')
const CLIENT = join(import.meta.dirname, 'conformance/client.ts')

const PASSED = [
  'initialize',
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'sse-retry',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-basic',
]

/** Why svc does not pass the others. */
const NOT_PASSED: Readonly<Record<string, readonly string[]>> = {
  'svc has no public address at which a client could describe itself: it registers, or the document names its client': [
    'auth/basic-cimd',
  ],
  'svc asks for no more than a person consented to: a call that needs another scope is refused, and says so': [
    'auth/scope-step-up',
  ],
  'metadata has to be that of its issuer (RFC 8414, 3.3), since refresh tokens go there': [
    'auth/2025-03-26-oauth-metadata-backcompat',
  ],
  'a server of 2025-03-26 without metadata has endpoints that are guessed': ['auth/2025-03-26-oauth-endpoint-fallback'],
  'a client proves itself with a secret, not with a signed assertion': ['auth/client-credentials-jwt'],
  'a person consents at the authorization server itself, not at an identity provider beside it': [
    'auth/cross-app-access-complete-flow',
  ],
}

describe.skipIf(!isConformanceInstalled)('with npm ci --prefix test/server/mcp/conformance --ignore-scripts', () => {
  test('each scenario passes, or is listed with the reason', async () => {
    const { output } = await execute(conformanceRuntime!, [CONFORMANCE, 'list', '--client'], { cwd: tmpdir() })
    const all = [...output.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name!)
    expect(all.toSorted()).toEqual([...PASSED, ...Object.values(NOT_PASSED).flat()].toSorted())
  })

  const tryScenario = (name: string) =>
    execute(
      conformanceRuntime!,
      [CONFORMANCE, 'client', '--command', `${process.execPath} ${TSX} ${CLIENT}`, '--scenario', name],
      { cwd: tmpdir() },
    )

  // Each starts three programs: a quarter of them, and all in a long run.
  test.each(PASSED.filter((_, at) => isLong || at % 4 === 0))(
    '%s passes',
    async (name) => {
      expect(await tryScenario(name)).toMatchObject({ status: 0 })
    },
    60_000,
  )

  test('the program says by its status what did not pass', async () => {
    expect((await tryScenario('auth/client-credentials-jwt')).status).not.toBe(0)
  }, 60_000)
})
