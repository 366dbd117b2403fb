import { isGated } from '../../facts/policies/authority.ts'
import { effectiveClass, toolsOf, type ToolUse } from '../../facts/agents/bindings.ts'
import { agentCapabilitiesOf } from '../../facts/agents/capabilities.ts'
import type { Document } from '../../text/document.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { isUnder } from '../../text/paths.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'
import { describeExampleCall } from '../../facts/policies/example-call.ts'

export const securityWriteWithoutApproval: LintRule = {
  severity: 'warning',
  law: 'A policy applies to each write that must not be repeated.',
  fix: 'Attach a policy that requires an approval, denies or bounds.',
  reason: 'By default a write is allowed.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    // For agents that read untrusted content, `security/untrusted-steers-write` reports it.
    if (agentCapabilitiesOf(workspace, document).untrusted) return
    for (const use of ungatedWrites(project, document))
      report(
        `${use.pointer}/ref`,
        `No policy applies to ${use.ref?.id ?? 'this tool'}, which makes a change on every call${describeExampleCall(inputOf(workspace, use)?.value)}.`,
        isFirst(project, use) ? { fix: HOW_TO_ACCEPT } : {},
      )
  },
}

/** Shown once per report. */
const HOW_TO_ACCEPT =
  'Attach a policy that asks, denies or bounds; for a harmless write, put `# svc-lint-disable-next-line security/write-without-approval -- WHY` above its binding, or `security/write-without-approval: off` under `lint.rules` of svc.config.yaml.'

const ungatedWrites = (project: LintProject, agent: Document): readonly ToolUse[] =>
  toolsOf(agent).filter(
    (use) => effectiveClass(project.workspace, use) === 'non_idempotent_write' && !isGated(project, use),
  )

/** True for the first such binding of the linted documents. */
function isFirst(project: LintProject, use: ToolUse): boolean {
  let first = firstUses.get(project)
  if (first === undefined) {
    const { workspace } = project
    const { focus } = workspace
    const agents = workspace.documents.filter(
      ({ kind, path }) =>
        kind === 'Agent' && (focus === undefined || focus.some((each) => path === each || isUnder(each, path))),
    )
    const agent = agents.find(
      (each) => !agentCapabilitiesOf(workspace, each).untrusted && ungatedWrites(project, each).length > 0,
    )
    first = agent && ungatedWrites(project, agent)[0]
    if (first) firstUses.set(project, first)
  }
  return first === use
}

const firstUses = new WeakMap<LintProject, ToolUse>()
