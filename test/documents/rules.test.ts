import { describe, expect, test } from 'vitest'
import { lintWorkspace, type LintOptions } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import type { RuleExample } from '../../src/documents/facts/rule.ts'
import { rules } from '../../src/documents/rules/index.ts'
import type { ToolListing } from '../../src/tools/listed-tool.ts'
import { complete } from './complete.ts'

const shown = rules.filter(({ bad }) => Object.keys(bad).length > 0)

/** What the examples of some rules suppose beside their files. */
const world: LintOptions = {
  env: { PATH: '/usr/bin' },
  server: { approvers: 1, hidden: { 'acme.hidden': 'website' } },
  loosened: [
    { agent: 'acme.loosened', say: 'pay.refund with {"amount":2000} needed an approval before, and is allowed now' },
  ],
  published: {
    yanked: (kind, id, version) => `${kind} ${id}@${version}` === 'Agent ops.published@1.3.0',
    versions: (kind, id) => (kind === 'Agent' && id === 'ops.published' ? ['1.3.0', '1.4.2'] : []),
    document: (kind, id, version) =>
      kind === 'Tool' && id === 'pay.published' && version === '1.2.0'
        ? {
            apiVersion: 'svc/v1',
            kind: 'Tool',
            metadata: { name: 'published', namespace: 'pay', version: '1.2.0' },
            spec: { description: 'Pays an amount back.' },
          }
        : undefined,
  },
}
/** Examples of `secret/env-missing` alone look at the environment: the others name variables that nobody sets. */
const optionsOf = (name: string): LintOptions => {
  const { env, ...others } = world
  return {
    ...others,
    ...(name === 'secret/env-missing' && { env: env! }),
    ...(name === 'mcp/not-pinned' && { rules: { 'mcp/not-pinned': 'warn' } }),
    ...(name === 'policy/untested' && {
      coverage: new Map([
        ['pay.tested@1.0.0', []],
        ['pay.half-tested@1.0.0', [{ text: 'args.amount > 500', missing: ['false', 'unknown'] }]],
      ]),
    }),
  }
}
const inputSchema = { type: 'object' }
/** What the servers of the examples say when they are asked. */
const SERVER: ToolListing = {
  tools: new Map([
    ['search', { name: 'search', description: 'Searches the web.', inputSchema }],
    ['forget', { name: 'forget', description: 'Forgets a page.', inputSchema, readOnly: false, destructive: true }],
  ]),
}
const judged = (files: RuleExample, name: string) => {
  const workspace = loadFiles(complete(files))
  const mcp = new Map(workspace.documents.map((document) => [document, new Map([['web', SERVER]])]))
  return lintWorkspace(workspace, {
    ...optionsOf(name),
    ...(/^mcp\/(?:description-changed|hint)/.test(name) && { mcp }),
  })
}

describe('every rule', () => {
  test.each(shown.map((rule) => [rule.name, rule] as const))('%s finds its bad example', (name, rule) => {
    const findings = judged(rule.bad, name)
    expect(findings.map(({ rule: found, severity }) => `${found} ${severity}`)).toContain(`${name} ${rule.severity}`)
  })

  test.each(shown.map((rule) => [rule.name, rule] as const))(
    '%s is silent in its good example, which has no error',
    (name, rule) => {
      const findings = judged(rule.good, name)
      expect(findings.filter(({ rule: found, severity }) => found === name || severity === 'error')).toEqual([])
    },
  )

  test.each(shown.map((rule) => [rule.name, rule] as const))(
    '%s is the only error of its bad example',
    (name, rule) => {
      const findings = judged(rule.bad, name)
      expect([
        ...new Set(findings.filter(({ severity }) => severity === 'error').map(({ rule: found }) => found)),
      ]).toEqual(rule.severity === 'error' ? [name] : [])
    },
  )

  test('has a name of its own', () => {
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length)
  })

  test.each(rules.map((rule) => [rule.name, rule] as const))(
    '%s says its law, its source and its remedy',
    (_, rule) => {
      for (const sentence of [rule.law, rule.fix]) expect(sentence).toMatch(/^[^a-z\s].*\.$/s)
      expect(rule.source).toMatch(
        /^(?:Authoring format|Policies|Bundles|Decisions|Reliability|Security|HTTP API|Lint rules|JSON Schema|YAML 1\.2)\b/,
      )
    },
  )
})
