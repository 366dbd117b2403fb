/** Every way by which a secret of the environment enters a server is listed, and its value redacted. */
import { expect, test } from 'vitest'
import { createRedactor } from '../../../src/base/secret.ts'
import type { ProjectConfig } from '../../../src/spec/project/config.ts'
import { listSecretVariables, redactVariables } from '../../../src/spec/project/secret-variables.ts'

const config = {
  tools: {
    'acme.refunds': { command: ['node', 'refunds.mjs'], env: ['BANK_KEY', 'DATABASE_URL', 'NODE_ENV', 'TZ'] },
    'acme.mail': { http: { url: 'https://mail.test', headers: { authorization: 'Bearer ${MAIL_KEY}' } } },
    'acme.crm': { command: ['node', 'crm.mjs'], env: ['DATABASE_URL'] },
  },
  providers: { house: { type: 'openai-compatible', key: { fromEnv: 'HOUSE_KEY' } } },
  storage: { url: 's3://bucket' },
} as unknown as ProjectConfig

test('each variable is listed once, with all that use it; the words of every program are no secret', () => {
  expect(listSecretVariables(config)).toEqual([
    { env: 'BANK_KEY', usedBy: ['tool acme.refunds'] },
    { env: 'DATABASE_URL', usedBy: ['tool acme.refunds', 'tool acme.crm'] },
    { env: 'MAIL_KEY', usedBy: ['tool acme.mail'] },
    { env: 'HOUSE_KEY', usedBy: ['model house'] },
    { env: 'SVC_STORE', usedBy: ['store'] },
    { env: 'SVC_CLUSTER_SECRET', usedBy: ['peers'] },
    { env: 'SVC_OPERATOR_KEY', usedBy: ['command line'] },
    { env: 'SVC_API_KEY', usedBy: ['command line'] },
    { env: 'AWS_SECRET_ACCESS_KEY', usedBy: ['storage'] },
    { env: 'AWS_SESSION_TOKEN', usedBy: ['storage'] },
  ])
})

test('the value of each is redacted, and the password of an address also alone', () => {
  const redactor = createRedactor()
  const variables = listSecretVariables(config)
  const values = Object.fromEntries(variables.map(({ env }, at) => [env, `value-${at}-of-${env}`]))
  redactVariables(redactor, variables, {
    ...values,
    DATABASE_URL: 'postgres://u:p%40ss-word-1@host/db',
    NODE_ENV: 'production',
  })
  const { DATABASE_URL: _, ...others } = values
  for (const value of Object.values(others)) expect(redactor.text(`(${value})`)).toBe('(***)')
  expect(redactor.text('postgres://u:p%40ss-word-1@host/db failed: p@ss-word-1 in production')).toBe(
    '*** failed: *** in production',
  )
})
