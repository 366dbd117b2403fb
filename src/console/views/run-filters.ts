/** What a list of runs is narrowed by. Each filter is a parameter of the address, so that a view can be kept and sent. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { safeText } from '../../base/escape-text.ts'
import { html, type View } from '../parts/html.ts'
import { Icon } from '../parts/icon.ts'
import { address, goTo, withQuery } from '../wire/navigation.ts'
import { callOperator } from '../wire/request.ts'
import { aboutWorkspace, useResource } from '../wire/resource.ts'

const SINCE = [
  ['', 'any time'],
  ['3600000', 'last hour'],
  ['86400000', 'last day'],
  ['604800000', 'last 7 days'],
] as const

/** Agent, its version, trigger, person and time. */
export function RunFacets(): View {
  const { query } = address.value
  const [agent, version, trigger, person, since] = FACETS.map((name) => query.get(name) ?? '')
  const agents = useResource('agents', () => callOperator('GET /agents'), aboutWorkspace)
  const versions = useResource(
    `versions ${agent}`,
    async () => (agent ? (await callOperator('GET /versions', { query: { agent } })).items : []),
    aboutWorkspace,
  )
  const triggers = useResource('triggers', () => callOperator('GET /triggers'), aboutWorkspace)
  const names = (triggers.value.value?.items ?? [])
    .filter((each) => agent === '' || each.agent === agent)
    .map(({ name }) => name)
  return html`
    <${Choice}
      label="Agent"
      name="agent"
      value=${agent}
      others=${['version', 'trigger']}
      options=${[
        ['', 'every agent'],
        ...toOptions(
          (agents.value.value?.items ?? []).map(({ name }) => name),
          agent!,
        ),
      ]}
    />
    ${
      agent !== '' &&
      html`<${Choice}
        label="Version"
        name="version"
        value=${version}
        options=${[
          ['', 'every version'],
          ...toOptions(
            (versions.value.value ?? []).map(({ versionLabel }) => versionLabel),
            version!,
          ),
        ]}
      />`
    }
    <${Choice}
      label="Trigger"
      name="trigger"
      value=${trigger}
      options=${[['', 'every trigger'], ...toOptions(['operator', ...names], trigger!)]}
    />
    <${TypedFilter} label="Person" name="person" value=${person} />
    <${Choice} label="Since" name="since" value=${since} options=${SINCE} />
  `
}

const FACETS = ['agent', 'version', 'trigger', 'person', 'since'] as const

/** Each name once, and the one that is chosen even where nothing has it any more. */
const toOptions = (names: readonly string[], chosen: string): readonly (readonly [string, string])[] =>
  [...new Set([...names, chosen])].filter((name) => name !== '').map((name) => [name, safeText(name)])

/** Milliseconds after the last key before it is searched. */
const SEARCH_AFTER_MS = 250

export function RunSearchField({ value }: { readonly value: string }): View {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setText(value), [value])
  return html`
    <div class="search">
      <${Icon} name="search" />
      <input
        type="search"
        placeholder="Search ids, inputs, outputs"
        aria-label="Search runs"
        value=${text}
        onInput=${(event: { currentTarget: HTMLInputElement }) => {
          const typed = event.currentTarget.value
          setText(typed)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => goTo(withQuery({ search: typed.trim() }), true), SEARCH_AFTER_MS)
        }}
      />
      <kbd>/</kbd>
    </div>
  `
}

/** Taken with Enter or when the field is left: nobody is found by a part of a name. */
function TypedFilter({
  label,
  name,
  value,
}: {
  readonly label: string
  readonly name: string
  readonly value: string
}): View {
  return html`
    <label class="choice-of">
      <span class="unseen">${label}</span>
      <input
        key=${value}
        type="text"
        placeholder="any person"
        maxlength="300"
        defaultValue=${value}
        onChange=${(event: { currentTarget: HTMLInputElement }) => goTo(withQuery({ [name]: event.currentTarget.value.trim() }), true)}
      />
    </label>
  `
}

function Choice({
  label,
  name,
  value,
  others = [],
  options,
}: {
  readonly label: string
  readonly name: string
  readonly value: string
  /** Filters that mean something else with another value of this one. */
  readonly others?: readonly string[]
  readonly options: readonly (readonly [string, string])[]
}): View {
  return html`
    <label class="choice-of">
      <span class="unseen">${label}</span>
      <select
        value=${value}
        onChange=${(event: { currentTarget: HTMLSelectElement }) => goTo(withQuery({ ...Object.fromEntries(others.map((other) => [other, ''])), [name]: event.currentTarget.value }), true)}
      >
        ${options.map(([each, text]) => html`<option key=${each} value=${each} selected=${each === value}>${text}</option>`)}
      </select>
    </label>
  `
}
