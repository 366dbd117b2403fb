/** What a list of runs is narrowed by. Each filter is a parameter of the address, so that a view can be kept and sent. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Choice, type ChoiceOptions } from '../../parts/choice.tsx'
import type { View } from '../../parts/view.ts'
import { takeText } from '../../parts/input.ts'
import { Icon } from '../../parts/icon.tsx'
import { address, goTo, withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutWorkspace, useOperator, useResource } from '../../wire/resource.ts'

const SINCE = [
  ['', 'any time'],
  ['3600000', 'last hour'],
  ['86400000', 'last day'],
  ['604800000', 'last 7 days'],
] as const

/** Filters whose values are typed. */
const TYPED = [
  ['person', 'Person', 'text'],
  ['tool', 'Tool', 'text'],
  ['seconds', 'Least seconds', 'number'],
  ['minTokens', 'Least tokens', 'number'],
  ['minCost', 'Least cost', 'number'],
  ['from', 'From day', 'date'],
  ['to', 'To day', 'date'],
] as const

/** Filters and orders with few values. */
const CHOSEN: readonly (readonly [name: string, label: string, options: ChoiceOptions])[] = [
  ['since', 'Since', SINCE],
  ['sort', 'Sort', ['newest', 'duration', 'tokens', 'cost'].map((by, at) => [at === 0 ? '' : by, by])],
]

/** Another agent has others of these. */
const OF_AGENT = { version: '', trigger: '' }

/** Agent, its version, trigger, person and time. */
export function RunFacets(): View {
  const { query } = address.value
  const read = (name: string): string => query.get(name) ?? ''
  const [agent, version, trigger] = [read('agent'), read('version'), read('trigger')]
  const agents = useOperator('GET /agents', {}, aboutWorkspace)
  const versions = useResource(
    `versions ${agent}`,
    async () => (agent ? (await callOperator('GET /versions', { query: { agent } })).items : []),
    aboutWorkspace,
  )
  const triggers = useOperator('GET /triggers', {}, aboutWorkspace)
  const names = (triggers.value?.items ?? [])
    .filter((each) => agent === '' || each.agent === agent)
    .map(({ name }) => name)
  return (
    <>
      <Choice
        label="Agent"
        onChoose={choose('agent')}
        value={agent}
        options={[
          ['', 'every agent'],
          ...toOptions(
            (agents.value?.items ?? []).map(({ name }) => name),
            agent,
          ),
        ]}
      />
      {agent !== '' && (
        <Choice
          label="Version"
          onChoose={choose('version')}
          value={version}
          options={[
            ['', 'every version'],
            ...toOptions(
              (versions.value ?? []).map(({ versionLabel }) => versionLabel),
              version,
            ),
          ]}
        />
      )}
      <Choice
        label="Trigger"
        onChoose={choose('trigger')}
        value={trigger}
        options={[['', 'every trigger'], ...toOptions(['operator', ...names], trigger)]}
      />
      {TYPED.map(([name, label, type]) => (
        <TypedFilter key={name} name={name} label={label} type={type} value={read(name)} />
      ))}
      {CHOSEN.map(([name, label, options]) => (
        <Choice key={name} label={label} onChoose={choose(name)} value={read(name)} options={options} />
      ))}
    </>
  )
}

/** Keeps what is typed while the lists around it are read again. */
function TypedFilter({
  name,
  label,
  type,
  value,
}: Readonly<Record<'name' | 'label' | 'type' | 'value', string>>): View {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  return (
    <input
      class="choice-of"
      type={type}
      aria-label={label}
      placeholder={label}
      value={text}
      onInput={takeText(setText)}
      onChange={takeText((typed: string) => choose(name)(typed.trim()))}
    />
  )
}

const choose =
  (name: string) =>
  (value: string): void =>
    goTo(withQuery({ ...(name === 'agent' && OF_AGENT), [name]: value }), true)

/** Each name once, and the one that is chosen even where nothing has it any more. */
const toOptions = (names: readonly string[], chosen: string): ChoiceOptions =>
  [...new Set([...names, chosen])].filter((name) => name !== '').map((name) => [name, name])

/** Milliseconds after the last key before it is searched. */
const SEARCH_AFTER_MS = 250

export function RunSearchField({ value }: { readonly value: string }): View {
  const [text, setText] = useState(value)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setText(value), [value])
  // Who came here with `/` goes on typing.
  useEffect(() => {
    if (address.value.query.get('search') === '') input.current?.focus()
  }, [])
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        placeholder="Search ids, inputs, outputs"
        aria-label="Search runs"
        value={text}
        onInput={(event: { currentTarget: HTMLInputElement }) => {
          const typed = event.currentTarget.value
          setText(typed)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => goTo(withQuery({ search: typed.trim() }), true), SEARCH_AFTER_MS)
        }}
      />
      <kbd>/</kbd>
    </div>
  )
}
