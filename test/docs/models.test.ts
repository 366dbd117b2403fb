/** A page for each type of provider: its lines, as they stand, call a server that speaks the vendor's format. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { REAL_MODELS } from '../../src/cli/init/real-model.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { readValues } from '../../src/documents/workspace/read.ts'
import { createProviders } from '../../src/providers/registry/choose.ts'
import type { ProviderConfig } from '../../src/spec/project/config.ts'
import { ONLINE_PROVIDERS, type ModelSpec } from '../../src/spec/document.ts'
import { complete, requestWith } from '../providers/request.ts'
import { vendors } from '../providers/vendors.ts'
import { blocksOf } from './page.ts'

const DIRECTORY = resolve(import.meta.dirname, '../../docs/models')
const KEY = 'k-of-the-page-123456'

interface PageLines {
  readonly secrets?: Readonly<Record<string, { readonly fromEnv: string }>>
  readonly spec: { readonly model: ModelSpec }
  readonly providers?: Readonly<Record<string, ProviderConfig>>
}

/** All documents of a page, read as one. */
function linesOf(type: string): PageLines & { readonly agent: string } {
  const files = blocksOf(readFileSync(join(DIRECTORY, `${type}.md`), 'utf8')).flatMap((block) =>
    block.is === 'file' ? [block] : [],
  )
  const values = files.flatMap(({ path, text }) => readValues({ path, text }).values)
  const agent = files.find(({ path }) => path.startsWith('agents/'))!.text
  return { ...(Object.assign({}, ...values) as PageLines), agent }
}

test('every type of provider has a page, and the index names it', () => {
  expect(readdirSync(DIRECTORY).sort()).toEqual(ONLINE_PROVIDERS.map((type) => `${type}.md`).sort())
  const index = readFileSync(join(DIRECTORY, '../models.md'), 'utf8')
  expect([...index.matchAll(/\(models\/([\w-]+)\.md\)/g)].map(([, name]) => name!).sort()).toEqual(
    [...ONLINE_PROVIDERS].sort(),
  )
})

test.each([...ONLINE_PROVIDERS])('the lines for %s work', async (type) => {
  const { secrets = {}, spec, providers = {}, agent } = linesOf(type)
  const fake = await vendors.find((each) => each.type === type)!.start([{ say: 'It works.' }])
  try {
    const address = type === 'openai' || type === 'openai-compatible' ? `${fake.url}/v1` : fake.url
    // The one thing that a test changes: where the vendor is.
    const declared = providers[spec.model.provider] ?? { type }
    const config = { ...providers, [spec.model.provider]: { ...declared, base_url: address } }
    const keys = [...Object.values(secrets), ...(declared.key ? [declared.key] : [])]
    const chosen = createProviders({
      config,
      env: Object.fromEntries(keys.map(({ fromEnv }) => [fromEnv, KEY])),
      redactor: createRedactor(),
    })
    const provider = chosen.choose({ id: 'acme.desk', secrets }, spec.model)
    const { completion } = await complete(provider, requestWith({ model: spec.model }))
    expect(completion.text).toBe('It works.')
    const { headers } = fake.requests[0]!
    expect(JSON.stringify(headers).includes(KEY)).toBe(type !== 'openai-compatible')
    const isLocal = type === 'openai-compatible' || type === 'azure-openai'
    expect(chosen.terms(spec.model).price === 'unknown').toBe(isLocal)
  } finally {
    await fake.close()
  }
  expect(findingsOf(agent, providers)).toEqual([])
})

/** What lint says about the model and secrets of a page. */
const findingsOf = (agent: string, providers: NonNullable<PageLines['providers']>): string[] => {
  const text = agent
    .replace(
      /^/,
      'apiVersion: svc/v1\nkind: Agent\nmetadata: { name: desk, namespace: acme, version: 1.0.0, owner: a }\n',
    )
    .replace('spec:\n', 'spec:\n  purpose: Answers.\n  instructions: { text: Answer. }\n')
  return lintWorkspace(loadFiles({ 'agents/desk.yaml': text }), { providers })
    .filter(({ rule }) => /^(model|secret|shape|yaml)\//.test(rule))
    .map(({ rule, message }) => `${rule}: ${message}`)
}

test.each(['openai', 'anthropic'] as const)('init writes the model of the page of %s', (type) => {
  expect(linesOf(type).spec.model.name).toBe(REAL_MODELS[type].name)
})
