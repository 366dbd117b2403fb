import { describe, expect, test } from 'vitest'
import { findCredential, findOwnKey, findNamedValue, mayHoldCredential } from '../../src/documents/text/credentials.ts'

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

/** Written in halves, so that no scanner takes this file for a leak. */
const hex = (length: number): string =>
  '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'.repeat(2).slice(0, length)
const mixed = (length: number): string => 'q7Hk2pX9mT4vB8nZc5Lw1Rd6Yf3Gj0Ks'.repeat(5).slice(0, length)
const upper = (length: number): string => mixed(length).toUpperCase()

describe('the form of a vendor is known', () => {
  test.each<[vendor: string, begins: string, rest: string]>([
    ['Anthropic', 'sk-ant-', `api03-${mixed(80)}`],
    ['OpenAI', 'sk-', mixed(48)],
    ['OpenAI, of a project', 'sk-proj-', `${mixed(40)}-${mixed(20)}`],
    ['OpenAI, of a service account', 'sk-svcacct-', mixed(60)],
    ['OpenRouter', 'sk-or-v1-', hex(64)],
    ['Hugging Face', 'hf_', mixed(34)],
    ['Groq', 'gsk_', mixed(52)],
    ['xAI', 'xai-', mixed(80)],
    ['Perplexity', 'pplx-', mixed(48)],
    ['Replicate', 'r8_', mixed(37)],
    ['LangSmith', 'lsv2_pt_', `${hex(32)}_${hex(10)}`],
    ['AWS', 'AKIA', upper(16)],
    ['AWS, for a while', 'ASIA', upper(16)],
    ['Google, an API key', 'AIza', `Sy${mixed(33)}`],
    ['Google, an OAuth client', 'GOCSPX-', mixed(28)],
    ['Google, an access token', 'ya29.', mixed(60)],
    ['Google, a service account', '-----BEGIN PRIVATE', ' KEY-----\\nMIIEvQ'],
    ['Azure storage', 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=', `${mixed(86)}==`],
    [
      'Azure, a shared access signature',
      'https://a.blob.core.windows.net/c?sv=2022-11-02&sig=',
      `${mixed(43)}%3D&se=2030`,
    ],
    ['Azure Service Bus', 'SharedAccessKeyName=all;SharedAccessKey=', `${mixed(43)}=`],
    ['DigitalOcean', 'dop_v1_', hex(64)],
    ['Heroku', 'HRKU-', `AA${mixed(58)}`],
    ['Databricks', 'dapi', hex(32)],
    ['Fly', 'fo1_', mixed(43)],
    ['GitHub, classic', 'ghp_', mixed(36)],
    ['GitHub, OAuth', 'gho_', mixed(36)],
    ['GitHub, an app', 'ghs_', mixed(36)],
    ['GitHub, fine-grained', 'github_pat_', `${mixed(22)}_${mixed(59)}`],
    ['GitLab', 'glpat-', mixed(20)],
    ['GitLab, a runner', 'glrt-', mixed(20)],
    ['npm', 'npm_', mixed(36)],
    ['PyPI', 'pypi-', `AgEIcHlwaS5vcmc${mixed(60)}`],
    ['Docker', 'dckr_pat_', mixed(27)],
    ['Vault', 'hvs.', mixed(24)],
    ['Doppler', 'dp.pt.', mixed(43)],
    ['Grafana', 'glsa_', `${mixed(32)}_${hex(8)}`],
    ['New Relic', 'NRAK-', upper(27)],
    ['Datadog', 'DD_API_KEY=', hex(32)],
    ['Stripe', 'sk_live_', mixed(24)],
    ['Stripe, restricted', 'rk_test_', mixed(24)],
    ['Stripe, a webhook', 'whsec_', mixed(32)],
    ['Shopify', 'shpat_', hex(32)],
    ['Square', 'sq0csp-', mixed(43)],
    ['Slack, a bot', 'xoxb-', `1234567890-1234567890-${mixed(24)}`],
    ['Slack, an app', 'xapp-', `1-A0B1C2D3E4-1234567890-${hex(64)}`],
    ['Slack, a webhook', 'https://hooks.slack.com/', `services/T0A1B2C3D/B0A1B2C3D/${mixed(24)}`],
    ['Discord, a bot', 'bot token: ', `MTA${mixed(21)}.Gx7Kq2.${mixed(30)}`],
    ['Discord, a webhook', 'https://discord.com/api/webhooks/', `123456789012345678/${mixed(68)}`],
    ['Telegram', '1234567890:', `AA${mixed(33)}`],
    ['Twilio', 'SK', hex(32)],
    ['SendGrid', 'SG.', `${mixed(22)}.${mixed(43)}`],
    ['Mailgun', 'key-', hex(32)],
    ['Linear', 'lin_api_', mixed(40)],
    ['Notion', 'ntn_', mixed(46)],
    ['Notion, of old', 'secret_', mixed(43)],
    ['Figma', 'figd_', mixed(40)],
    ['Postman', 'PMAK-', `${hex(24)}-${hex(34)}`],
    ['Atlassian', 'ATATT3', `xFfGF0${mixed(160)}`],
    ['HubSpot', 'pat-', `na1-4f9d2a7e-18f1-7c3b-9a55-0242ac120002`],
    ['a private key of SSH', '-----BEGIN OPENSSH', ' PRIVATE KEY-----'],
    ['a private key that is encrypted', '-----BEGIN ENCRYPTED', ' PRIVATE KEY-----'],
    ['a private key of PGP', '-----BEGIN PGP', ' PRIVATE KEY BLOCK-----'],
    ['a database', 'postgres://desk:', 'q7Hk2pX9@db.example:5432/desk'],
    ['Redis', 'redis://:', 'q7Hk2pX9mT@cache.example:6379'],
    ['Slack, an app of a few letters', 'xapp-1-A-1-', 'a'],
    ['a header', 'Authorization: Bearer ', mixed(40)],
  ])('%s', (_, begins, rest) => {
    const text = `Use ${begins}${rest} here.`
    expect(findCredential(text)).toBeDefined()
    // As short as it may be, and wherever it stands in a document.
    for (let length = text.length; findCredential(text.slice(0, length)) !== undefined; length--)
      for (const before of ['', 'a: "', `${'word '.repeat(7)}key: `])
        expect(mayHoldCredential(`${before}${text.slice(0, length)}" # word`)).toBe(true)
  })

  test.each([
    ['under a name with a prefix', `datadogApiKey: ${mixed(20)}`],
    ['of a client', `client_secret = "${mixed(30)}"`],
    ['of AWS', `aws_secret_access_key=${mixed(40)}`],
  ])('and so is a random value %s', (_, text) => {
    expect(findCredential(text)).toBeDefined()
    for (const before of ['', 'a: "', 'word '.repeat(7)]) expect(mayHoldCredential(`${before}${text}`)).toBe(true)
  })
})

describe('a similar text is not a credential', () => {
  test.each([
    ['sk-learn-and-other-long-names'],
    ['sk-SK-locale-of-the-customer'],
    ['skip-the-rest-of-the-questionnaire'],
    ['ghp_short'],
    ['AKIA-is-a-prefix'],
    ['AKIAXXXXXXXXXXXXXXXX'],
    ['ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['sk-ant-your-key-goes-here'],
    ['sk-xxxxxxxxxxxxxxxxxxxxxxxx'],
    ['Authorization: Bearer ${SEARCH_TOKEN_OF_THE_DESK}'],
    ['Bearer authentication-is-required-here'],
    ['the SKU 4711 and key-value pairs'],
    ['key-performance-indicators-of-2024'],
    ['pat-na1 is a data center'],
    ['eyJ begins a web token'],
    ['-----BEGIN PUBLIC KEY-----'],
    ['-----BEGIN CERTIFICATE-----'],
    ['npm_config_registry'],
    ['hf_hub_download'],
    ['dapi_gateway'],
    ['postgres://user:password@localhost/desk'],
    ['postgres://${USER}:${PASSWORD}@db.example/desk'],
    ['https://<user>:<password>@host.example/'],
    ['https://docs.example:8443/@team/page'],
    ['http://localhost:8080/v1/users/me@example.com'],
    ['mailto:someone@example.com'],
    ['12:AA'],
  ])('%s', (text) => {
    expect(findCredential(text)).toBeUndefined()
  })
})

describe('what documents are full of is no credential', () => {
  test.each([
    ['4f9d2a7e-18f1-7c3b-9a55-0242ac120002'],
    [`sha256:${hex(64)}`],
    [`sha512-${mixed(86)}==`],
    ['da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    [`data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ${mixed(60)}==`],
    ['^[A-Za-z0-9_-]{16,64}$'],
    ['^(?:sk|pk)_(?:live|test)_[A-Za-z0-9]{24}$'],
    ['>=1.2.3-rc.1 <2.0.0 || ^3.4.5'],
    ['the-quick-brown-fox-jumps-over-13-lazy-dogs-in-2024'],
    ['Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.'],
    ['https://api.example.com/v1/orders/8f14e45f-ceea-467f-a8c5-1a2b3c4d5e6f?expand=items&limit=100'],
    ['arn:aws:iam::123456789012:role/refund-desk'],
    ['2024-06-20T12:34:56.789Z/P30D'],
    ['max_tokens_per_run: 1000000'],
    ['next_page_token'],
    ['token: refund-desk-production-2024'],
    ['api_key: see the secrets section'],
    ['private_key: keys/production/server-one'],
    ['ask-the-customer-for-the-order-number-1234567890'],
    ['task-management-2024-and-scheduling-system-42'],
    ['desk-estimator-2024-with-long-name-77'],
  ])('%s', (text) => {
    expect(findCredential(text)).toBeUndefined()
  })
})
