/** One agent: what its deployed version may do, its versions, and what one may do that another could not. */
import { useState } from 'preact/hooks'
import { safeText } from '../../../base/escape-text.ts'
import type { VersionView } from '../../../operations/versions.ts'
import { Badge } from '../../parts/badge.tsx'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { Pauses } from '../../steer/pauses.tsx'
import { address, withQuery } from '../../wire/navigation.ts'
import { aboutWorkspace, useOperator } from '../../wire/resource.ts'
import { AuthorityMatrix } from './agent-authority.tsx'
import { DeployForm, DeploymentHistory, Difference } from './agent-deploy.tsx'

export function AgentScreen({ id: name = '' }: { readonly id?: string }): View {
  const versions = useOperator('GET /versions', { query: { agent: name } }, aboutWorkspace)
  const { query } = address.value
  const items = versions.value?.items
  if (versions.error?.status === 404) return <EmptyState icon="agents" title="There is no such agent." isScreen />
  if (!items) return showUnread(versions)
  const deployed = items.find((each) => each.deployed)
  const shown = query.get('version') ?? deployed?.versionLabel
  const from = query.get('from')
  return (
    <section class="screen">
      <a class="back-link" href="/agents">
        <Icon name="left" />
        Agents
      </a>
      <header class="screen-head">
        <h1>
          {safeText(name)}
          {deployed && <span class="dim">@{safeText(deployed.versionLabel)}</span>}
        </h1>
        <div class="buttons">
          {shown !== undefined && (
            <a
              class="button small"
              href={`/try/${encodeURIComponent(name)}${shown === deployed?.versionLabel ? '' : `?version=${encodeURIComponent(shown)}`}`}
            >
              <Icon name="try" />
              Try it
            </a>
          )}
          <a class="button small" href={`/policies?agent=${encodeURIComponent(name)}`}>
            <Icon name="policies" />
            What if
          </a>
          {shown !== undefined && (
            <a
              class="button small"
              href={`/agents/${encodeURIComponent(name)}/graph?version=${encodeURIComponent(shown)}`}
            >
              <Icon name="agents" />
              Graph
            </a>
          )}
          <a class="button small" href={`/runs?agent=${encodeURIComponent(name)}`}>
            <Icon name="runs" />
            Runs
          </a>
        </div>
      </header>
      <Pauses agent={name} />
      <VersionTable name={name} items={items} shown={shown} from={from} />
      {shown !== undefined &&
        (from !== null && from !== shown ? (
          <Difference name={name} from={from} to={shown} />
        ) : (
          <AuthorityMatrix name={name} version={shown} />
        ))}
      <DeploymentHistory name={name} />
    </section>
  )
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
  return (
    <>
      <h2 class="section">Versions</h2>
      <Table label="Versions" heads={['Version', 'Published', 'By', 'Digest', '']}>
        {items.map((version) => (
          <tr key={version.agentVersionId} aria-current={version.versionLabel === shown ? 'true' : undefined}>
            <td>
              <a href={withQuery({ version: version.versionLabel, from: undefined })}>
                {safeText(version.versionLabel)}
              </a>
              {version.deployed && <Badge tone="ok" icon="check" text="deployed" />}
              {version.yanked && <Badge tone="bad" icon="stop" text="yanked" />}
              {version.yankReason !== undefined && <span class="sub">{safeText(version.yankReason)}</span>}
            </td>
            <td class="when">
              <Age at={version.publishedAt} />
            </td>
            <td>
              {safeText(version.publishedBy)}
              {version.message !== undefined && <span class="sub">{safeText(version.message)}</span>}
            </td>
            <td>
              <code class="dim" title={version.digest}>
                {version.digest.slice(7, 15)}
              </code>
            </td>
            <td class="actions">
              {version.versionLabel !== shown && (
                <a
                  class="button small quiet"
                  href={withQuery({ from: version.versionLabel, version: shown })}
                  aria-current={from === version.versionLabel ? 'true' : undefined}
                >
                  Compare
                </a>
              )}
              {!version.deployed && (
                <button type="button" class="button small" onClick={() => setAsked(version)}>
                  {deployed && Date.parse(version.publishedAt) < Date.parse(deployed.publishedAt)
                    ? 'Roll back to it'
                    : 'Deploy'}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {asked && (
        <DeployForm
          key={asked.agentVersionId}
          name={name}
          from={deployed}
          to={asked}
          onDone={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
