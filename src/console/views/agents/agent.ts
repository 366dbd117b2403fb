/** One agent: what its deployed version may do, its versions, and what one may do that another could not. */
import { useState } from 'preact/hooks'
import { safeText } from '../../../base/escape-text.ts'
import type { VersionView } from '../../../operations/versions.ts'
import { Badge } from '../../parts/badge.ts'
import { html, type View } from '../../parts/html.ts'
import { Table } from '../../parts/table.ts'
import { Icon } from '../../parts/icon.ts'
import { Age } from '../../parts/moments.ts'
import { EmptyState, showUnread } from '../../parts/states.ts'
import { Pauses } from '../../steer/pauses.ts'
import { address, withQuery } from '../../wire/navigation.ts'
import { aboutWorkspace, useOperator } from '../../wire/resource.ts'
import { AuthorityMatrix } from './agent-authority.ts'
import { DeployForm, DeploymentHistory, Difference } from './agent-deploy.ts'

export function AgentScreen({ id: name = '' }: { readonly id?: string }): View {
  const versions = useOperator('GET /versions', { query: { agent: name } }, aboutWorkspace)
  const { query } = address.value
  const items = versions.value?.items
  if (versions.error?.status === 404)
    return html`<${EmptyState} icon="agents" title="There is no such agent." isScreen />`
  if (!items) return showUnread(versions)
  const deployed = items.find((each) => each.deployed)
  const shown = query.get('version') ?? deployed?.versionLabel
  const from = query.get('from')
  return html`
    <section class="screen">
      <a class="back-link" href="/agents"><${Icon} name="left" />Agents</a>
      <header class="screen-head">
        <h1>${safeText(name)}${deployed && html`<span class="dim">@${safeText(deployed.versionLabel)}</span>`}</h1>
        <div class="buttons">
          ${shown !== undefined && html`<a class="button small" href=${`/try/${encodeURIComponent(name)}${shown === deployed?.versionLabel ? '' : `?version=${encodeURIComponent(shown)}`}`}><${Icon} name="try" />Try it</a>`}
          <a class="button small" href=${`/policies?agent=${encodeURIComponent(name)}`}
            ><${Icon} name="policies" />What if</a
          >
          ${shown !== undefined && html`<a class="button small" href=${`/agents/${encodeURIComponent(name)}/graph?version=${encodeURIComponent(shown)}`}><${Icon} name="agents" />Graph</a>`}
          <a class="button small" href=${`/runs?agent=${encodeURIComponent(name)}`}><${Icon} name="runs" />Runs</a>
        </div>
      </header>
      <${Pauses} agent=${name} />
      <${VersionTable} name=${name} items=${items} shown=${shown} from=${from} />
      ${
        shown !== undefined &&
        (from !== null && from !== shown
          ? html`<${Difference} name=${name} from=${from} to=${shown} />`
          : html`<${AuthorityMatrix} name=${name} version=${shown} />`)
      }
      <${DeploymentHistory} name=${name} />
    </section>
  `
}

function VersionTable({
  name,
  items,
  shown,
  from,
}: {
  readonly name: string
  readonly items: readonly VersionView[]
  readonly shown: string | undefined
  readonly from: string | null
}): View {
  const [asked, setAsked] = useState<VersionView | undefined>(undefined)
  const deployed = items.find((each) => each.deployed)
  return html`
    <h2 class="section">Versions</h2>
    <${Table} label="Versions" heads=${['Version', 'Published', 'By', 'Digest', '']}>
      ${items.map(
        (version) => html`
          <tr key=${version.agentVersionId} aria-current=${version.versionLabel === shown ? 'true' : undefined}>
            <td>
              <a href=${withQuery({ version: version.versionLabel, from: undefined })}
                >${safeText(version.versionLabel)}</a
              >
              ${version.deployed && html`<${Badge} tone="ok" icon="check" text="deployed" />`}
              ${version.yanked && html`<${Badge} tone="bad" icon="stop" text="yanked" />`}${version.yankReason !== undefined && html`<span class="sub">${safeText(version.yankReason)}</span>`}
            </td>
            <td class="when"><${Age} at=${version.publishedAt} /></td>
            <td>
              ${safeText(version.publishedBy)}${version.message !== undefined && html`<span class="sub">${safeText(version.message)}</span>`}
            </td>
            <td><code class="dim" title=${version.digest}>${version.digest.slice(7, 15)}</code></td>
            <td class="actions">
              ${version.versionLabel !== shown && html`<a class="button small quiet" href=${withQuery({ from: version.versionLabel, version: shown })} aria-current=${from === version.versionLabel ? 'true' : undefined}>Compare</a>`}
              ${!version.deployed && html`<button type="button" class="button small" onClick=${() => setAsked(version)}>${deployed && Date.parse(version.publishedAt) < Date.parse(deployed.publishedAt) ? 'Roll back to it' : 'Deploy'}</button>`}
            </td>
          </tr>
        `,
      )}
    </${Table}>
    ${asked && html`<${DeployForm} key=${asked.agentVersionId} name=${name} from=${deployed} to=${asked} onDone=${() => setAsked(undefined)} />`}
  `
}
