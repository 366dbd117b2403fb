/** Which words of the variables of OpenTelemetry are secrets from then on. Source: docs/design/security.md#secrets */
import { expect, test } from 'vitest'
import { createRedactor } from '../../../src/base/secret.ts'
import { beginTelemetry } from '../../../src/server/runtime/open/begin-telemetry.ts'
import { openBench, snapshotOf } from '../../engine/bench.ts'
import { options } from '../running.ts'

test('keys of receivers are masked wherever they stand, and names of tenants and data sets are not', async () => {
  const redactor = createRedactor()
  const { store } = await openBench({ agents: [snapshotOf({ name: 'desk' })], models: {}, tools: {} })
  const telemetry = await beginTelemetry(
    {
      ...options(),
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:pass-word-1@127.0.0.1:1/?key=parameter-1',
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20token-token-1,X-Scope-OrgID=production,x-key=secret-key-1',
      },
    },
    { log: { write() {} }, redactor, store },
  )
  await telemetry!.close()
  expect(redactor.text('token-token-1 secret-key-1 pass-word-1 parameter-1 production')).toBe(
    '*** *** *** *** production',
  )
})
