import { subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import { readAgentRef, type AgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const subagentRefForm: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A sub-agent is a path in the bundle, `namespace.name@version`, or `namespace.name` with `late_bound: true`.',
  fix: 'Write a path, namespace.name@version, or namespace.name with `late_bound: true`.',
  source: 'Authoring format, "Sub-agent binding": `ref`; "Versioning", 3',
  kinds: ['Agent'],
  check(document, report, { workspace, published }) {
    for (const { value, pointer } of subAgentsOf(document)) {
      const text = textMember(value, 'ref')
      if (text === undefined || text === '') continue
      const ref = readAgentRef(text)
      const local = ref.form === 'floating' ? workspace.find(document, 'Agent', ref.id)[0] : undefined
      // `bundle/external-unpinned` reports agents outside the bundle.
      const external = local === undefined || published.versions('Agent', local.identity.id).length > 0
      if (ref.form === 'floating' && external && value['late_bound'] !== true) continue
      const problem = problemOf(ref, text, value['late_bound'] === true, local?.path)
      if (problem === undefined) continue
      const { message, fix, meant } = problem
      report(`${pointer}/ref`, message, {
        fix: meant === undefined ? fix : proposeScalarFix(document.placeOf(`${pointer}/ref`), meant),
      })
    }
  },
}

interface Problem {
  readonly message: string
  readonly fix: string
  /** What stands there instead, where that is certain. */
  readonly meant?: string
}

function problemOf(ref: AgentRef, text: string, lateBound: boolean, path = ''): Problem | undefined {
  if (ref.form === 'unknown')
    return {
      message: `"${text}" is not an agent reference.`,
      fix: 'Write a path in the bundle, or namespace.name@version.',
    }
  if (ref.form === 'versioned-path')
    return {
      message: `"${text}" is a path with a version: a file of the bundle has its own.`,
      fix: `Write ${ref.path}.`,
      meant: ref.path,
    }
  if (ref.form === 'floating')
    return lateBound
      ? undefined
      : { message: `"${text}" names no version.`, fix: `Write ${path}, or add \`late_bound: true\`.` }
  if (!lateBound) return undefined
  return ref.form === 'path'
    ? {
        message: `"${text}" is a path, which is never bound late.`,
        fix: 'Remove `late_bound`, or write namespace.name.',
      }
    : {
        message: `"${text}" names a version, but \`late_bound\` takes the one that is deployed.`,
        fix: `Write ${ref.id}, or remove \`late_bound\`.`,
      }
}
