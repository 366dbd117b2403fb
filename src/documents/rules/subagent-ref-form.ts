import { subAgentsOf, textAt } from '../bindings.ts'
import { readAgentRef, type AgentRef } from '../reference.ts'
import type { Rule } from '../rule.ts'

export const subagentRefForm: Rule = {
  name: 'subagent/ref-form',
  severity: 'error',
  law: 'A sub-agent is a path in the bundle, `namespace.name@version`, or `namespace.name` with `late_bound: true`.',
  fix: 'Write a path, namespace.name@version, or namespace.name with `late_bound: true`.',
  source: 'Authoring format, "Sub-agent binding": `ref`; "Versioning", 3',
  bad: { 'bundle.yaml': 'kind: Bundle\n', 'agent.yaml': 'kind: Agent\nspec:\n  agents: [{ref: ops.notifier}]\n' },
  good: {
    'bundle.yaml': 'kind: Bundle\n',
    'agent.yaml': 'kind: Agent\nspec:\n  agents: [{ref: ops.notifier, late_bound: true}]\n',
  },
  kinds: ['Agent'],
  check(document, report, { published }) {
    for (const { value, pointer } of subAgentsOf(document)) {
      const text = textAt(value, 'ref')
      if (text === undefined || text === '') continue
      const ref = readAgentRef(text)
      // `bundle/external-unpinned` speaks of what is published.
      if (ref.form === 'floating' && published.versions('Agent', ref.id).length > 0) continue
      const problem = problemOf(ref, text, value['late_bound'] === true)
      if (problem !== undefined) report(`${pointer}/ref`, problem.says, { fix: problem.fix })
    }
  },
}

interface Problem {
  readonly says: string
  readonly fix: string
}

function problemOf(ref: AgentRef, text: string, lateBound: boolean): Problem | undefined {
  if (ref.form === 'unknown')
    return {
      says: `"${text}" is no reference to an agent.`,
      fix: 'Write a path in the bundle, or namespace.name@version.',
    }
  if (ref.form === 'versioned-path')
    return { says: `"${text}" is a path with a version: a file of the bundle has its own.`, fix: `Write ${ref.path}.` }
  if (ref.form === 'floating')
    return lateBound
      ? undefined
      : { says: `"${text}" names no version.`, fix: `Write ${ref.id}@ and the version, or add \`late_bound: true\`.` }
  if (!lateBound) return undefined
  return ref.form === 'path'
    ? { says: `"${text}" is a path, which is never bound late.`, fix: 'Remove `late_bound`, or write namespace.name.' }
    : {
        says: `"${text}" names a version, but \`late_bound\` takes the one that is deployed.`,
        fix: `Write ${ref.id}, or remove \`late_bound\`.`,
      }
}
