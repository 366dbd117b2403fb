import { expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { readModelFallback } from '../../src/documents/facts/agents/model-fallback.ts'

const first = { provider: 'anthropic', name: 'claude-sonnet-5' }

test('further models are read from flow text, with everything that a model may have', () => {
  const text = '[{provider: openai, name: gpt-5, reasoning: {effort: low}}, {provider: house, name: llama}]'
  expect(readModelFallback(text, first)).toEqual({
    models: [
      { provider: 'openai', name: 'gpt-5', reasoning: { effort: 'low' } },
      { provider: 'house', name: 'llama' },
    ],
  })
})

const FORM = 'svc/model-fallback is a list of models, such as "[{provider: openai, name: gpt-5}]".'

test.each([
  ['', FORM],
  ['openai/gpt-5', FORM],
  ['[{provider: openai', FORM],
  ['{provider: openai, name: gpt-5}', FORM],
  ['[]', 'svc/model-fallback names 1 to 4 models; these are 0.'],
  [`[${'{provider: a, name: b},'.repeat(5)}]`, 'svc/model-fallback names 1 to 4 models; these are 5.'],
  ['[{provider: openai}]', 'Model 1 of svc/model-fallback does not have the form of `spec.model`.'],
  [
    '[{provider: openai, name: a}, {provider: openai, name: b, fallback: []}]',
    'Model 2 of svc/model-fallback does not have the form of `spec.model`.',
  ],
  [
    '[{provider: openai, name: a}, {provider: vendor_b, name: a}]',
    'svc/model-fallback names the model vendor_b/a twice, or again after `spec.model`.',
  ],
])('%j is refused', (text, problem) => {
  expect(readModelFallback(text, first)).toEqual({ problem })
})

test('a provider that nobody knows is found, and the secret of a fallback model is a used one', () => {
  const agent = (provider: string): string => `apiVersion: svc/v1
kind: Agent
metadata:
  name: desk
  namespace: acme
  version: 1.0.0
  annotations: { svc/model-fallback: '[{provider: ${provider}, name: m}]' }
secrets: { anthropic: { fromEnv: A }, house: { fromEnv: B } }
spec:
  purpose: Answers questions.
  instructions: { text: Answer. }
  model: { provider: anthropic, name: claude-sonnet-5 }
`
  const found = (provider: string, providers = {}): string[] =>
    lintWorkspace(loadFiles({ 'agent.yaml': agent(provider) }), { providers })
      .filter(({ rule }) => rule === 'model/fallback' || rule === 'secret/unused')
      .map(({ rule }) => rule)
  expect(found('house')).toEqual(['model/fallback'])
  expect(found('house', { house: { type: 'openai-compatible' } })).toEqual([])
  expect(found('openai')).toEqual(['model/fallback', 'secret/unused'])
})

test.each([
  ['openai, name: m', 'The fallback openai/m has no secret: it names none, and none is named "openai".'],
  ['openai, name: m, secret: spare', 'The fallback openai/m names the secret "spare", which is not declared.'],
  ['openai, name: m, secret: anthropic', undefined],
  ['vendor_a, name: m', undefined],
  ['local, name: m', undefined],
  ['keyed, name: m', undefined],
  ['scripted, name: m', undefined],
])('a fallback {provider: %s} is told of a missing secret: %s', (fallback, message) => {
  const agent = `apiVersion: svc/v1
kind: Agent
metadata:
  name: desk
  namespace: acme
  version: 1.0.0
  annotations: { svc/model-fallback: '[{provider: ${fallback}}]' }
secrets: { anthropic: { fromEnv: A } }
spec:
  purpose: Answers questions.
  instructions: { text: Answer. }
  model: { provider: anthropic, name: claude-sonnet-5 }
`
  const providers = {
    local: { type: 'openai-compatible', base_url: 'http://127.0.0.1:11434/v1' },
    keyed: { type: 'openai', key: { fromEnv: 'B' } },
  } as const
  const found = lintWorkspace(loadFiles({ 'agent.yaml': agent }), { providers })
    .filter(({ rule }) => rule === 'model/fallback')
    .map((finding) => finding.message)
  expect(found).toEqual(message === undefined ? [] : [message])
})
