/** Writes actual decisions into the expectations of a policy test; comments and layout stay. */
import { parseAllDocuments } from 'yaml'

export interface ActualDecision {
  readonly decision: string
  readonly by: string
  readonly approvals: number
}

/** @param actual by document and call; undefined where a call could not be decided */
export function rewriteCases(text: string, actual: readonly (readonly (ActualDecision | undefined)[])[]): string {
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return text
  documents.forEach((document, index) =>
    actual[index]?.forEach((found, at) => {
      if (!found) return
      const call = ['calls', at]
      document.setIn([...call, 'expect'], found.decision)
      if (document.hasIn([...call, 'by'])) document.setIn([...call, 'by'], found.by)
      if (!document.hasIn([...call, 'approvals'])) return
      if (found.approvals > 0) document.setIn([...call, 'approvals'], found.approvals)
      else document.deleteIn([...call, 'approvals'])
    }),
  )
  return documents.map((document) => document.toString({ lineWidth: 0 })).join('')
}
