import { isGated } from '../../facts/authority.ts'
import { effectiveClass, toolsOf, type ToolUse } from '../../facts/bindings.ts'
import { abilitiesOf } from '../../facts/capabilities.ts'
import type { Document } from '../../text/document.ts'
import { inputOf } from '../../facts/inputs.ts'
import { isUnder } from '../../text/paths.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'
import { witnessOf } from '../../prove/witness.ts'

export const writeWithoutApproval: LintRule = {
  name: 'security/write-without-approval',
  severity: 'warning',
  law: 'Some policy looks at a write that must not happen twice.',
  fix: 'Attach a policy that asks, denies or bounds.',
  source: 'Policies, section 4: the side-effect default allows it',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace } = project
    // Where strangers are read, `security/untrusted-steers-write` says it.
    if (abilitiesOf(workspace, document).untrusted) return
    for (const use of ungatedWrites(project, document))
      report(
        `${use.pointer}/ref`,
        `No policy looks at ${use.ref?.id ?? 'this tool'}, which changes something each time${witnessOf(inputOf(workspace, use)?.value)}.`,
        isFirst(project, use) ? { fix: HOW_TO_ACCEPT } : {},
      )
  },
}

/** Told once in a report. */
const HOW_TO_ACCEPT =
  'Attach a policy that asks, denies or bounds; for a harmless write, put `# svc-lint-disable-next-line security/write-without-approval -- WHY` above its binding, or `security/write-without-approval: off` under `lint.rules` of svc.config.yaml.'

const ungatedWrites = (project: LintProject, agent: Document): readonly ToolUse[] =>
  toolsOf(agent).filter(
    (use) => effectiveClass(project.workspace, use) === 'non_idempotent_write' && !isGated(project, use),
  )

/** The first such binding of the project, or of what is linted of it. */
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
      (each) => !abilitiesOf(workspace, each).untrusted && ungatedWrites(project, each).length > 0,
    )
    first = agent && ungatedWrites(project, agent)[0]
    if (first) firstUses.set(project, first)
  }
  return first === use
}

const firstUses = new WeakMap<LintProject, ToolUse>()
