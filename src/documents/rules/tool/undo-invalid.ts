import { UNDO_ARGUMENTS, UNDONE_BY } from '../../../policy/undo-mapping.ts'
import { toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { inputOf, toolInput } from '../../facts/agents/inputs.ts'
import { labelOfTool, labelPointer } from '../../facts/effect-keys.ts'
import type { LintProject, LintRule, ReportFault } from '../../facts/rule.ts'
import { findMappingFaults, toolNamedBy, undoOfTool, unknownPlaceholders } from '../../facts/undo.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import type { Document } from '../../text/document.ts'
import { nearestCandidate } from '../../text/suggest.ts'

export const toolUndoInvalid: LintRule = {
  severity: 'error',
  law: '`svc/undone-by` names a tool that the agent binds too, or is none; `svc/undo-arguments` is a JSON object that gives that tool its required arguments, from arguments and results that there are.',
  fix: 'Bind the tool that undoes, and map its arguments: `svc/undo-arguments: \'{"refund_id": "{result.id}"}\'`.',
  reason: 'After a failure an operator is offered an undo that cannot be made.',
  crossFile: true,
  kinds: ['Tool', 'Agent'],
  check(document, report, { workspace }) {
    if (document.kind === 'Tool') checkTool(document, report, workspace)
    else checkAgent(document, report, workspace)
  },
}

function checkTool(tool: Document, report: ReportFault, workspace: LintProject['workspace']): void {
  const read = undoOfTool(tool)
  if (!read || 'none' in read) return
  if ('problem' in read) return report(labelPointer(read.label), read.problem)
  const { mapping } = read
  const text = labelOfTool(tool, UNDO_ARGUMENTS)
  const place = tool.placeOf(labelPointer(text === undefined ? UNDONE_BY : UNDO_ARGUMENTS))
  for (const { placeholder, name, known } of unknownPlaceholders(workspace, tool, mapping)) {
    const near = nearestCandidate(name, known)
    const what = placeholder.root === 'args' ? 'The tool has no argument' : 'The output schema of the tool declares no'
    report(place, `${what} ${placeholder.path}.`, {
      ...(near !== undefined &&
        text !== undefined && {
          fix: replaceScalarFix(
            place,
            text.replaceAll(`{${placeholder.path}}`, `{${placeholder.path.replace(name, near)}}`),
          ),
        }),
    })
  }
  const undoing = toolNamedBy(workspace, tool, mapping.tool)
  const input = undoing && toolInput(workspace, undoing)?.value
  if (input === undefined) return
  for (const fault of findMappingFaults(mapping, input, tool, workspace)) report(place, fault)
}

/** A shared tool may be undone by a tool that this agent does not bind. */
function checkAgent(agent: Document, report: ReportFault, workspace: LintProject['workspace']): void {
  const uses = toolsOf(agent)
  for (const use of uses) {
    const tool = toolDocument(workspace, use)
    const read = tool && undoOfTool(tool)
    if (!tool || !read || !('mapping' in read)) continue
    const { mapping } = read
    const undoing = uses.find(({ ref }) => ref?.id === mapping.tool)
    const place = `${use.pointer}/ref`
    if (!undoing) report(place, `${tool.identity.id} is undone by ${mapping.tool}, which this agent does not bind.`)
    else if (undoing.builtin)
      report(place, `${tool.identity.id} is undone by ${mapping.tool}, which acts on nothing outside.`)
    // Where there is no Tool document, its binding says what arguments it takes.
    else if (!toolDocument(workspace, undoing)) {
      const input = inputOf(workspace, undoing)?.value
      if (input !== undefined)
        for (const fault of findMappingFaults(mapping, input, tool, workspace)) report(place, fault)
    }
  }
}
