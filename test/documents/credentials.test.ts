import { describe, expect, test } from 'vitest'
import { findCredential, findOwnKey, findNamedValue } from '../../src/documents/credentials.ts'

describe('a credential is found', () => {
  test.each([
    ['sk-ant-api03-q7Hk2pX9mT4vB8nZ', 'a key of a model provider'],
    ['ghp_q7Hk2pX9mT4vB8nZc5Lw1Rd6Yf3Gj0Ks', 'a token of a code host'],
    ['AKIAQ7HK2PX9MT4VB8NZ', 'a key of a cloud'],
    ['xoxb-1234567890-q7Hk2pX9mT', 'a token of a chat'],
    ['-----BEGIN RSA PRIVATE KEY-----', 'a private key'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N', 'a web token'],
    ['password = "q7Hk2pX9mT4vB8nZ"', 'a random password beside its name'],
    ['the api key is 9f86d081884c7d659a2feaa0c55ad015', 'hexadecimal digits beside their name'],
  ])('%s: %s', (text) => {
    expect(findCredential(`Use ${text} here.`)).toBeDefined()
  })

  test('under a key that names it', () => {
    expect(findNamedValue('/spec/model/provider_options/api_key', 'q7Hk2pX9mT4vB8nZ')?.shown).toBe('q7Hk…')
  })

  test('and only its beginning is shown', () => {
    expect(findCredential('sk-ant-api03-q7Hk2pX9mT4vB8nZ')?.shown).toBe('sk-ant…')
  })
})

describe('what is no credential is left alone', () => {
  test.each([
    ['password: your-password-here'],
    ['api_key: YOUR_API_KEY_GOES_HERE'],
    ['The secret is to listen carefully to customers.'],
    ['access_token: ${ACCESS_TOKEN_OF_VENDOR}'],
    ['sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['4f9d2a7e-18f1-7c3b-9a55-0242ac120002'],
    ['acme.refund-desk@1.2.0-rc.1'],
    ['https://mcp.example/v1/tools?page=2&order=asc'],
    ['anthropic-claude-sonnet-2024-06-20'],
    ['task-management-and-scheduling-system'],
    ['password_reset_token_lifetime: 30 minutes'],
    ['private_key: keys/production/server-one'],
  ])('%s', (text) => {
    expect(findCredential(text)).toBeUndefined()
  })
})

test.each([
  ['svc_0123456789abcdefghijABCDEFGHIJ01234567', true],
  ['svc_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5', true],
  ['svc_maximumnumberofconcurrentruns2', false],
  ['svc_9fQ2', false],
])('%s is a key of svc: %s', (text, is) => {
  expect(findOwnKey(`x ${text}.`) !== undefined).toBe(is)
})
