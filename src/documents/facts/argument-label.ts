/** Labels of a Tool document that name arguments in braces: the effect key and the summary. */
import { placeholdersOf, readArgumentTemplate } from '../../policy/condition/argument-template.ts'
import { replaceScalarFix } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import { firstMissingStep } from '../text/property.ts'
import { nearestCandidate } from '../text/suggest.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { toolInput } from './agents/inputs.ts'
import { labelOfTool, labelPointer } from './effect-keys.ts'
import type { ReportFault } from './rule.ts'

/**
 * Reports a label that is no template, and each placeholder that is no argument of the tool.
 * @param noun begins the sentence about a problem: `An effect key`
 */
export function checkArgumentLabel(
  document: Document,
  report: ReportFault,
  { workspace, label, noun }: { readonly workspace: Workspace; readonly label: string; readonly noun: string },
): void {
  const text = labelOfTool(document, label)
  if (text === undefined) return
  const place = document.placeOf(labelPointer(label))
  const read = readArgumentTemplate(text, noun)
  if ('problem' in read) return report(place, read.problem)
  const schema = toolInput(workspace, document)?.value
  if (schema === undefined) return
  for (const { path, segments } of placeholdersOf(read.template)) {
    const missing = firstMissingStep(schema, segments)
    if (!missing) continue
    const near = nearestCandidate(missing.name, missing.known)
    report(place, `The tool has no argument ${path}.`, {
      ...(near !== undefined && {
        fix: replaceScalarFix(place, text.replaceAll(`{${path}}`, `{${path.replace(missing.name, near)}}`)),
      }),
    })
  }
}
