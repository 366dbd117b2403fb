/** One agent: what its deployed version may do, its versions, and what one may do that another could not. */
import { useState } from 'preact/hooks'
import { safeBlock, safeJson, safeText } from '../../base/escape-text.ts'
import type { AuthorityRow, ChangeView, VersionView } from '../../spec/operator-views.ts'
import { announce } from '../parts/announce.ts'
import { Badge, type Tone } from '../parts/badge.ts'
import { html, type View } from '../parts/html.ts'
import { Icon, type IconName } from '../parts/icon.ts'
import { Age } from '../parts/moments.ts'
import { EmptyState, ErrorNote, Loading } from '../parts/states.ts'
import { hintAll } from '../wire/live.ts'
import { address, withQuery } from '../wire/navigation.ts'
import { callOperator, RequestError } from '../wire/request.ts'
import { aboutWorkspace, useResource } from '../wire/resource.ts'

export function AgentScreen({ id: name = '' }: { readonly id?: string }): View {
  const versions = useResource(
    `versions ${name}`,
    () => callOperator('GET /versions', { query: { agent: name } }),
    aboutWorkspace,
  )
  const { query } = address.value
  const items = versions.value.value?.items
  if (versions.error.value?.status === 404)
    return html`<${EmptyState} icon="agents" title="There is no such agent." isScreen />`
  if (!items) return versions.error.value ? html`<${ErrorNote} error=${versions.error.value} />` : html`<${Loading} />`
  const deployed = items.find((each) => each.deployed)
  const shown = query.get('version') ?? deployed?.versionLabel
  const from = query.get('from')
  return html`
    <section class="screen">
      <a class="back-link" href="/agents"><${Icon} name="left" />Agents</a>
      <header class="screen-head">
        <h1>${safeText(name)}${deployed && html`<span class="dim">@${safeText(deployed.versionLabel)}</span>`}</h1>
        <div class="buttons">
          ${deployed && html`<a class="button small" href=${`/try/${encodeURIComponent(name)}`}><${Icon} name="try" />Try it</a>`}
          <a class="button small" href=${`/runs?agent=${encodeURIComponent(name)}`}><${Icon} name="runs" />Runs</a>
        </div>
      </header>
      <${VersionTable} name=${name} items=${items} shown=${shown} from=${from} />
      ${
        shown !== undefined &&
        (from !== null && from !== shown
          ? html`<${Difference} name=${name} from=${from} to=${shown} />`
          : html`<${Authority} name=${name} version=${shown} />`)
      }
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
    <div class="table-wrap" role="region" aria-label="Versions" tabindex="0">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Published</th>
            <th scope="col">By</th>
            <th scope="col">Digest</th>
            <th scope="col"><span class="unseen">Actions</span></th>
          </tr>
        </thead>
        <tbody>
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
                <td>${safeText(version.publishedBy)}</td>
                <td><code class="dim" title=${version.digest}>${version.digest.slice(7, 15)}</code></td>
                <td class="actions">
                  ${version.versionLabel !== shown && html`<a class="button small quiet" href=${withQuery({ from: version.versionLabel, version: shown })} aria-current=${from === version.versionLabel ? 'true' : undefined}>Compare</a>`}
                  ${!version.deployed && html`<button type="button" class="button small" onClick=${() => setAsked(version)}>${deployed && Date.parse(version.publishedAt) < Date.parse(deployed.publishedAt) ? 'Roll back to it' : 'Deploy'}</button>`}
                </td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
    ${asked && html`<${DeployForm} key=${asked.agentVersionId} name=${name} from=${deployed} to=${asked} onDone=${() => setAsked(undefined)} />`}
  `
}

/** Shows what would change before it is deployed: a wider authority is the first thing that is read. */
function DeployForm({
  name,
  from,
  to,
  onDone,
}: {
  readonly name: string
  readonly from: VersionView | undefined
  readonly to: VersionView
  readonly onDone: () => void
}): View {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isUnderstood, setUnderstood] = useState(false)
  const difference = useResource(`deploy ${name} ${from?.versionLabel} ${to.versionLabel}`, async () =>
    from
      ? await callOperator('GET /difference', { query: { agent: name, from: from.versionLabel, to: to.versionLabel } })
      : undefined,
  )
  const widens = difference.value.value?.widens === true
  const isRead = from === undefined || difference.value.value !== undefined || difference.error.value !== undefined
  const deploy = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      await callOperator('POST /deploy', {
        body: { agent: name, version: to.versionLabel, ...(to.yanked && { allowYanked: true }) },
      })
      announce(`${to.versionLabel} is deployed.`)
      hintAll()
      onDone()
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      setProblem(error.message)
    }
  }
  return html`
    <form class="cancel-form wide" onSubmit=${(event: Event) => void deploy(event)}>
      <p>
        <b>Deploy ${safeText(name)}@${safeText(to.versionLabel)}?</b> New runs take it; runs that have begun keep the
        version they have.
      </p>
      ${to.yanked && html`<p class="note bad"><${Icon} name="warning" /><span>This version is yanked${to.yankReason ? `: ${safeText(to.yankReason)}` : ''}.</span></p>`}
      ${difference.error.value && html`<${ErrorNote} error=${difference.error.value} />`}
      ${difference.value.value && html`<${Changes} changes=${difference.value.value.changes} />`}
      ${widens && html`<label class="switch"><input type="checkbox" checked=${isUnderstood} onChange=${() => setUnderstood(!isUnderstood)} /><span>It may do more than before, and that is intended.</span></label>`}
      ${problem !== undefined && html`<p class="why-not" role="alert">${problem}</p>`}
      <div class="buttons">
        <button class="button primary" disabled=${!isRead || (widens && !isUnderstood)}>
          Deploy ${safeText(to.versionLabel)}
        </button>
        <button type="button" class="button" onClick=${onDone}>Back</button>
      </div>
    </form>
  `
}

const DECISIONS: Readonly<Record<AuthorityRow['decision'], readonly [Tone, IconName, string]>> = {
  allow: ['ok', 'check', 'allow'],
  deny: ['bad', 'cross', 'deny'],
  require_approval: ['waiting', 'person', 'needs approval'],
  escalate: ['warn', 'bolt', 'escalates'],
}

function Authority({ name, version }: { readonly name: string; readonly version: string }): View {
  const matrix = useResource(
    `matrix ${name} ${version}`,
    () => callOperator('GET /matrix', { query: { agent: name, version } }),
    () => false,
  )
  const snapshot = useResource(
    `snapshot ${name} ${version}`,
    () => callOperator('GET /snapshot', { query: { agent: name, version } }),
    () => false,
  )
  const rows = matrix.value.value?.items
  const read = snapshot.value.value
  return html`
    <h2 class="section">What ${safeText(version)} may do</h2>
    <${ErrorNote} error=${matrix.error.value} />
    ${
      rows === undefined
        ? !matrix.error.value && html`<${Loading} rows=${3} />`
        : rows.length === 0
          ? html`<p class="dim">It calls nothing.</p>`
          : html`
              <div class="table-wrap" role="region" aria-label="Authority" tabindex="0">
                <table class="table">
                  <thead>
                    <tr>
                      <th scope="col">Call</th>
                      <th scope="col">Decision</th>
                      <th scope="col">When</th>
                      <th scope="col">By</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${rows.map((row, at) => {
                      const [tone, icon, text] = DECISIONS[row.decision]
                      return html`<tr key=${at}>
                        <td>
                          ${rows[at - 1]?.wire === row.wire ? html`<span class="unseen">${safeText(row.tool)}</span>` : safeText(row.tool)}
                        </td>
                        <td><${Badge} tone=${tone} icon=${icon} text=${text} /></td>
                        <td><code>${safeText(row.when)}</code></td>
                        <td class="dim">${safeText(row.by)}</td>
                      </tr>`
                    })}
                  </tbody>
                </table>
              </div>
            `
    }
    ${
      read &&
      html`
        <h2 class="section">How it is told</h2>
        <dl class="facts">
          <div>
            <dt>Model</dt>
            <dd>${safeText(`${read.model.provider}/${read.model.name}`)}</dd>
          </div>
          <div>
            <dt>Output</dt>
            <dd>${safeText(read.output.format)}</dd>
          </div>
          ${Object.entries(read.limits).map(
            ([limit, value]) =>
              html`<div key=${limit}>
                <dt>${safeText(limit.replaceAll('_', ' '))}</dt>
                <dd>${safeText(String(value))}</dd>
              </div>`,
          )}
        </dl>
        <pre class="text-block">${safeBlock(read.instructions.text)}</pre>
      `
    }
  `
}

function Difference({ name, from, to }: { readonly name: string; readonly from: string; readonly to: string }): View {
  const difference = useResource(
    `difference ${name} ${from} ${to}`,
    () => callOperator('GET /difference', { query: { agent: name, from, to } }),
    () => false,
  )
  const read = difference.value.value
  return html`
    <header class="screen-head section">
      <h2>From ${safeText(from)} to ${safeText(to)}</h2>
      <div class="buttons">
        <a class="button small" href=${withQuery({ from: to, version: from })}>The other way</a>
        <a class="button small" href=${withQuery({ from: undefined })}>Done</a>
      </div>
    </header>
    <${ErrorNote} error=${difference.error.value} />
    ${read ? html`<${Changes} changes=${read.changes} />` : !difference.error.value && html`<${Loading} rows=${3} />`}
  `
}

const Changes = ({ changes }: { readonly changes: readonly ChangeView[] }): View =>
  changes.length === 0
    ? html`<p class="dim">Nothing changes.</p>`
    : html`
        <ul class="changes-list">
          ${changes.map(
            (change, at) => html`
              <li key=${at} class=${change.widens ? 'wider' : ''}>
                <p>
                  ${change.widens ? html`<${Badge} tone="bad" icon="warning" text="may do more" />` : html`<${Badge} tone="quiet" icon="dot" text=${change.severity} />`}
                  <span>${safeText(change.say)}</span>
                  ${change.path !== null && html`<span class="place">${safeText(change.path)}</span>`}
                </p>
                ${change.witness && html`<p class="witness">for example <code>${safeText(change.witness.tool)} ${safeJson(change.witness.arguments)}</code><span class="dim"> was </span>${safeText(change.witness.before)}<span class="dim">, is </span><b>${safeText(change.witness.after)}</b></p>`}
              </li>
            `,
          )}
        </ul>
      `
