/** Where completion gets the values of arguments and options: from a running server, the package or the project. */
import { readdir } from 'node:fs/promises'
import { SUBJECTS } from '../spec/event.ts'
import type { OperatorAnswer, OperatorRoutes } from '../operations/operations.ts'
import { RUN_STATUSES } from '../spec/run/run.ts'
import { STEP_TYPES } from '../spec/step.ts'
import type { Io } from './shell/io.ts'
import type { Suggestion } from './suggestion.ts'

/** @param words the words before the one that is completed */
type CompletionSource = (io: Io, words: readonly string[]) => Promise<readonly Suggestion[]>

/** Limit for the server's answer; the whole completion must stay under 150 ms. */
const SERVER_TIMEOUT_MS = 60

/** Agents that are asked for their version: each takes a question. */
const MOST_ASKED = 16

/** A shell gets the value as it is: other characters could end the word, or run a command that a key or a file name holds. */
export const isShellPlain = (value: string): boolean => /^[\w.:@/=+-]+$/.test(value)

async function ask<R extends keyof OperatorRoutes & `GET /${string}`>(
  route: R,
  io: Io,
  query: Readonly<Record<string, string>> = {},
): Promise<OperatorRoutes[R]['answer']> {
  const [{ openProject }, { askRunning }] = await Promise.all([
    import('./project/project.ts'),
    import('./project/server/running-server.ts'),
  ])
  const project = await openProject({ cwd: io.cwd, globals: {}, io })
  return (await askRunning(
    project.dataDirectory,
    `${route.slice('GET '.length)}?${new URLSearchParams(query).toString()}`,
    SERVER_TIMEOUT_MS,
  )) as OperatorRoutes[R]['answer']
}

type ListRoute = {
  [R in keyof OperatorRoutes & `GET /${string}`]: OperatorAnswer<R> extends { items: readonly unknown[] } ? R : never
}[keyof OperatorRoutes & `GET /${string}`]

/** A source that asks a list route. */
const fromList =
  <R extends ListRoute>(
    route: R,
    toSuggestions: (item: OperatorAnswer<R>['items'][number]) => readonly Suggestion[],
  ): CompletionSource =>
  async (io) => {
    const { items } = await ask(route, io)
    return (items as readonly OperatorAnswer<R>['items'][number][]).flatMap(toSuggestions)
  }

const agents = fromList('GET /agents', ({ name, deployed }) => [
  { value: name, description: deployed?.versionLabel ?? 'not deployed' },
])

async function runs(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /runs', io)
  const named = ['@last', '@waiting'].map((value) => ({ value }))
  return [
    ...named,
    ...items.map(({ runId, agent, status }) => ({ value: runId.slice(-6), description: `${agent} ${status}` })),
  ]
}

const tasks = fromList('GET /tasks', ({ userTaskId, kind, agent }) => [
  { value: userTaskId.slice(-6), description: `${kind} of ${agent}` },
])

const triggers = fromList('GET /triggers', ({ name, triggerId, agent }) => [
  {
    value: isShellPlain(name) ? name : triggerId.slice(-6),
    description: `${agent} ${isShellPlain(name) ? triggerId.slice(-6) : name}`,
  },
])

const keys = fromList('GET /keys', (key) =>
  key.revokedAt === null
    ? [
        {
          value: key.keyId.slice(-6),
          description: `${key.prefix}… of ${'email' in key ? key.email : `${key.agent} / ${key.trigger}`}`,
        },
      ]
    : [],
)

const files = fromList('GET /files', ({ filename, mediaType }) => [{ value: filename, description: mediaType }])

const effects = fromList('GET /effects', ({ key, tool, outcome }) => [
  { value: key, description: `${tool} ${outcome}` },
])

const secrets = fromList('GET /secrets', ({ name, agent }) => [{ value: name, description: agent }])

const workers = fromList('GET /workers', ({ workerId, state }) => [{ value: workerId.slice(-6), description: state }])

/** Deployed versions: those of one agent alone would take a question each. */
const versions = fromList('GET /agents', ({ name, deployed }) =>
  deployed ? [{ value: `${name}@${deployed.versionLabel}`, description: 'deployed' }] : [],
)

async function templates(): Promise<readonly Suggestion[]> {
  const { packageFile } = await import('./project/package-file.ts')
  return (await readdir(packageFile('templates'))).map((value) => ({ value }))
}

async function rules(): Promise<readonly Suggestion[]> {
  const { rules: all } = await import('../documents/rules/index.ts')
  return all.map(({ name, law }) => ({ value: name, description: law }))
}

/** Labels of versions: of the agent that is named, else those that are deployed. */
async function labels(io: Io, words: readonly string[]): Promise<readonly Suggestion[]> {
  const agent = words[words.indexOf('--agent') + 1]
  if (words.includes('--agent') && agent !== undefined) {
    const { items } = await ask('GET /versions', io, { agent })
    return items.map(({ versionLabel, deployed }) => ({
      value: versionLabel,
      ...(deployed && { description: 'deployed' }),
    }))
  }
  const { items } = await ask('GET /agents', io)
  return items.flatMap(({ name, deployed }) => (deployed ? [{ value: deployed.versionLabel, description: name }] : []))
}

async function tools(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /agents', io)
  return [...new Set(items.flatMap((agent) => agent.tools))].map((value) => ({ value }))
}

/** Versions that are deployed. */
async function snapshots(io: Io) {
  const { items } = await ask('GET /agents', io)
  const deployed = items.filter((agent) => agent.deployed).slice(0, MOST_ASKED)
  return await Promise.all(deployed.map(({ name }) => ask('GET /snapshot', io, { agent: name })))
}

async function providers(io: Io): Promise<readonly Suggestion[]> {
  const used = (await snapshots(io)).flatMap(({ model, fallback = [] }) => [model, ...fallback])
  return [...new Set(used.map(({ provider }) => provider))].map((value) => ({ value }))
}

/** Grants that an operator can end at once. */
async function standing(io: Io): Promise<readonly Suggestion[]> {
  const found = (await snapshots(io)).flatMap(({ policies }) => policies.entries)
  return found.flatMap(({ obligations, policy }) =>
    obligations.standing === undefined ? [] : [{ value: obligations.standing, description: policy }],
  )
}

async function sessions(io: Io): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /sessions', io)
  const found = items.map(({ id, agent, status }) => ({ value: id.slice(-6), description: `${agent ?? ''} ${status}` }))
  return [{ value: '@last' }, ...found]
}

const consoleSessions = fromList('GET /console/sessions', ({ endedAt, sessionId, operator, browser }) =>
  endedAt === null ? [{ value: sessionId, description: `${operator} ${browser}` }] : [],
)

/** Options of the task that is answered. */
async function options(io: Io, words: readonly string[]): Promise<readonly Suggestion[]> {
  const { items } = await ask('GET /tasks', io)
  const task = items.find(({ userTaskId }) => words.some((word) => word.length >= 6 && userTaskId.endsWith(word)))
  return (task?.options ?? []).map(({ id, label }) => ({ value: id, description: label }))
}

async function subjects(): Promise<readonly Suggestion[]> {
  return await Promise.resolve(
    Object.values(SUBJECTS)
      .flat()
      .map((value) => ({ value })),
  )
}

/** The values of an option or an argument of a command; undefined where nothing is stored under its name. */
export const sourceOf = (path: string, name: string): CompletionSource | undefined =>
  [`${path} ${name}`, name].map((each) => (Object.hasOwn(SOURCES, each) ? SOURCES[each] : undefined)).find(Boolean)

/** Options and arguments whose values come from the server or the package. */
const SOURCES: Readonly<Record<string, CompletionSource>> = {
  // Commands whose argument has the name of another thing elsewhere.
  'keys revoke key': keys,
  'files get key': files,
  'effects show key': effects,
  'effects release key': effects,
  'secrets set name': secrets,
  'versions show version': versions,
  'versions source version': versions,
  'versions yank version': versions,
  'versions diff before': versions,
  'versions diff after': versions,
  'workers drain worker': workers,
  'stop version': versions,
  'deploy agent': versions,
  'runs migrate to': labels,
  'runs resume with-version': labels,
  'runs fork version': labels,
  'runs list version': labels,
  'runs list effect': effects,
  'policy revoke name': standing,
  'policy explain ref': runs,
  'answer option': options,
  'config get key': async (io) => (await import('./setting-keys.ts')).settingKeys(io),
  'config set key': async (io) => (await import('./setting-keys.ts')).settingKeys(io),
  'console end': consoleSessions,
  'runs conversation type': async () => STEP_TYPES.map((value) => ({ value })),
  'stream subject': subjects,
  'stream until': subjects,
  'policy eval tool': tools,
  tool: tools,
  provider: providers,
  agent: agents,
  run: runs,
  runs,
  task: tasks,
  tasks,
  session: sessions,
  template: templates,
  trigger: triggers,
  term: rules,
  rule: rules,
  status: async () => RUN_STATUSES.map((value) => ({ value })),
}
