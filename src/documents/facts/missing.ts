import { proposeScalarFix, type FindingText } from '../text/diagnostic.ts'
import type { FoundText } from '../text/document.ts'
import type { PathResolution } from '../workspace/resolve-path.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { ReportFault } from './rule.ts'

/** The message for a reference to a missing or ambiguous file; undefined when it resolves, or when a rule about paths reports it. */
export function missingFile(
  found: PathResolution,
  ref: FoundText,
): { readonly message: string; readonly details: FindingText } | undefined {
  if (!('problem' in found)) return undefined
  if (found.problem === 'ambiguous')
    return {
      message: `"${ref.value}" could be ${found.candidates.join(' or ')}.`,
      details: { fix: 'Keep one of the files, or write its full path.' },
    }
  if (found.problem !== 'missing') return undefined
  if (found.near === undefined) return { message: `There is no file "${ref.value}".`, details: {} }
  return {
    message: `There is no file "${ref.value}". Did you mean "${found.near}"?`,
    details: { fix: proposeScalarFix(ref, found.near), meant: found.near },
  }
}

/** Reports a path that leads to no Agent document. */
export function reportMissingAgent(
  report: ReportFault,
  workspace: Workspace,
  ref: FoundText,
  found: PathResolution,
): void {
  const fault = missingFile(found, ref)
  if (fault !== undefined) report(ref, fault.message, fault.details)
  if (!('path' in found)) return
  const [kind, ...others] = workspace.documentsAt(found.path).map((document) => document.kind)
  if (kind === undefined) report(ref, `${found.path} holds no document.`)
  else if (![kind, ...others].includes('Agent')) report(ref, `${found.path} is a ${kind}, not an Agent.`)
}
