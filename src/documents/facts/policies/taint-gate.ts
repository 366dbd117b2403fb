/** A policy that requires an approval after a run has read untrusted content. Source: docs/design/lint.md#capabilities */
import type { ToolUse } from '../agents/bindings.ts'
import type { TextEdit, FindingFix } from '../../text/diagnostic.ts'
import { insertionEdits } from '../../edit/insertion.ts'
import { joinPath } from '../../text/paths.ts'
import { segmentsOf } from '../../../base/json/pointer.ts'
import { isLogicalId } from '../../text/reference.ts'
import { nodeAt } from '../../text/node.ts'
import { withLineBreaksOf } from '../../text/source.ts'
import type { Workspace } from '../../workspace/workspace.ts'

/** The fix that writes the policy and attaches it to a binding; undefined where its name or path is taken, or it cannot be attached. */
export function taintGateFix(workspace: Workspace, use: ToolUse): FindingFix | undefined {
  const { agent, ref } = use
  const { namespace } = agent.identity ?? {}
  if (ref === undefined || namespace === undefined) return undefined
  const name = `tainted-${ref.name}`
  const id = `${namespace}.${name}`
  const path = joinPath(workspace.bundleDirectory(agent), `policies/${name}.yaml`)
  const taken = workspace.files.paths.includes(path) || workspace.find(agent, 'Policy', id).length > 0
  if (taken || !isLogicalId(id)) return undefined
  const attached = attachment(use, id)
  if (attached.length === 0) return undefined
  const range = workspace.source(path).span(0, 0)
  return {
    description: `Write ${path}, which requires an approval after untrusted content was read.`,
    edits: [{ path, range, text: policyText(namespace, name, ref.id) }, ...attached],
    unsafe: true,
  }
}

const policyText = (namespace: string, name: string, tool: string): string => `apiVersion: svc/v1
kind: Policy
metadata:
  name: ${name}
  namespace: ${namespace}
  version: 1.0.0
spec:
  description: Requires an approval of ${tool} after the run has read untrusted content.
  scope: tool:${tool}
  conditions:
    field: run.taint
    op: eq
    value: true
  decision:
    type: require_approval
    reason: This run has read untrusted content
    timeout:
      after_minutes: 60
      default: deny
`

/** The id as the only or the first of the binding's policies. */
function attachment({ agent, pointer }: ToolUse, id: string): TextEdit[] {
  const { source, root } = agent
  const list = nodeAt(root, segmentsOf(`${pointer}/policies`))
  if (list === undefined)
    return insertionEdits(agent, `${pointer}/policies`, source.path.endsWith('.json') ? `["${id}"]` : `[${id}]`)
  const [first] = list.items ?? []
  if (first === undefined || list.alias || source.path.endsWith('.json')) return []
  const before = source.text.slice(source.text.lastIndexOf('\n', first.start - 1) + 1, first.start)
  const flowMark = source.text[list.start] === '[' ? ', ' : undefined
  const mark = /^\s*-\s+$/.test(before) ? `\n${before}` : flowMark
  return mark === undefined
    ? []
    : [
        {
          path: source.path,
          range: source.span(first.start, first.start),
          text: withLineBreaksOf(source, `${id}${mark}`),
        },
      ]
}
