/** A recorded decision, and beside it the same call as it would be decided now. */
import type { DecideView } from '../../operations/decisions.ts'
import type { View } from '../parts/view.ts'
import { ExplanationView } from './explanation-view.tsx'

export function ComparisonView({ decided, name }: { readonly decided: DecideView; readonly name: string }): View {
  const { before, after, documents } = decided
  const kept = documents.filter(({ isEdited }) => !isEdited)
  const edited = documents.filter(({ isEdited }) => isEdited)
  // An edited policy stands in the place of the one of its name, also where it has another version.
  const now = [...edited, ...kept]
  return (
    <div class="compared">
      <div>
        <h2>As it was</h2>
        <ExplanationView explained={before} documents={kept} />
      </div>
      {after && (
        <div class="compared-after">
          <h2>{name}</h2>
          <ExplanationView explained={after} documents={now} />
        </div>
      )}
    </div>
  )
}
