/** One agent: what its deployed version may do, its versions, and what one may do that another could not. */
import { useState } from 'preact/hooks'
import { safeText, safeBlock } from '../../../base/text/escape-text.ts'
import type { VersionView } from '../../../operations/versions.ts'
import { Badge } from '../../parts/badge.tsx'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { Pauses } from '../../steer/pauses.tsx'
import { address, withQuery } from '../../wire/navigation.ts'
import { aboutWorkspace, useOperator, aboutNothing } from '../../wire/resource.ts'
import { DeployForm, DeploymentHistory, Difference } from './agent-deploy.tsx'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import { DecisionBadge } from '../../policy/explanation-view.tsx'
import { Facts, type Fact } from '../../parts/facts.tsx'

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

function AuthorityMatrix({ name, version }: { readonly name: string; readonly version: string }): View {
  const matrix = useOperator('GET /matrix', { query: { agent: name, version } }, aboutNothing)
  const snapshot = useOperator('GET /snapshot', { query: { agent: name, version } }, aboutNothing)
  const rows = matrix.value?.items
  const read = snapshot.value
  return (
    <>
      <h2 class="section">What {safeText(version)} may do</h2>
      {rows === undefined && showUnread(matrix, 3)}
      {rows?.length === 0 && <p class="dim">It calls nothing.</p>}
      {rows !== undefined && rows.length > 0 && (
        <Table label="Authority" heads={['Call', 'Decision', 'When', 'By']}>
          {rows.map((row, at) => (
            <tr key={at}>
              <td>
                {rows[at - 1]?.wire === row.wire ? (
                  <span class="unseen">{safeText(row.tool)}</span>
                ) : (
                  safeText(row.tool)
                )}
              </td>
              <td>
                <DecisionBadge decision={row.decision} />
              </td>
              <td>
                <code>{safeText(row.when)}</code>
              </td>
              <td class="dim">{safeText(row.by)}</td>
            </tr>
          ))}
        </Table>
      )}
      {read && (
        <>
          <h2 class="section">Instructions and limits</h2>
          <Facts facts={factsOf(read)} />
          <pre class="text-block">{safeBlock(read.instructions.text)}</pre>
        </>
      )}
    </>
  )
}

const factsOf = ({ model, output, limits }: AgentSnapshot): readonly Fact[] => [
  ['Model', safeText(`${model.provider}/${model.name}`)],
  ['Output', safeText(output.format)],
  ...Object.entries(limits).map(([limit, value]): Fact => [
    safeText(limit.replaceAll('_', ' ')),
    safeText(String(value)),
  ]),
]
