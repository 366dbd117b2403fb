/** Chooses the version with which a run goes on. */
import { safeText } from '../../base/text/escape-text.ts'
import type { View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { aboutWorkspace, useOperator } from '../wire/resource.ts'

export function VersionField({
  agent,
  own,
  value,
  onChange,
}: {
  readonly agent: string
  /** That of the run. */
  readonly own: string
  /** Empty: its own. */
  readonly value: string
  readonly onChange: (version: string) => void
}): View {
  const versions = useOperator('GET /versions', { query: { agent } }, aboutWorkspace)
  const labels = (versions.value?.items ?? []).map(({ versionLabel }) => versionLabel)
  return (
    <label class="field">
      <span>Version</span>
      <select value={value} onChange={takeText(onChange)}>
        <option value="">{safeText(own)}, as it was</option>
        {labels
          .filter((each) => each !== own)
          .map((each) => (
            <option key={each} value={each}>
              {safeText(each)}
            </option>
          ))}
      </select>
    </label>
  )
}
