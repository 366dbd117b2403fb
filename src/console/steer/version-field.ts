/** Chooses the version with which a run goes on. */
import { safeText } from '../../base/escape-text.ts'
import { html, type View } from '../parts/html.ts'
import { callOperator } from '../wire/request.ts'
import { aboutWorkspace, useResource } from '../wire/resource.ts'

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
  const versions = useResource(
    `versions ${agent}`,
    () => callOperator('GET /versions', { query: { agent } }),
    aboutWorkspace,
  )
  const labels = (versions.value.value?.items ?? []).map(({ versionLabel }) => versionLabel)
  return html`
    <label class="field"
      ><span>Version</span>
      <select
        value=${value}
        onChange=${(event: { currentTarget: HTMLSelectElement }) => onChange(event.currentTarget.value)}
      >
        <option value="">${safeText(own)}, as it was</option>
        ${labels.filter((each) => each !== own).map((each) => html`<option key=${each} value=${each}>${safeText(each)}</option>`)}
      </select>
    </label>
  `
}
