import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { parse, parseDocument, LineCounter } from 'yaml'
import { fail } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { makeDirectory } from '../../../base/files/make-directory.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { safeJson } from '../../../base/text/escape-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printList } from '../../shell/screen/list.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import { openProject, type Project } from '../../project/project.ts'
import { configIn, mergeConfig, userConfigFile } from '../../project/user-config.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { settingAnswer, settingsAnswer, changedSetting } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { textBefore } from '../../../base/text/text-parts.ts'
import { ownMember } from '../../../base/json/own-member.ts'

/** A setting in effect. */
interface ConfigSetting {
  readonly key: string
  readonly value: JsonValue
  /** `--data`, `SVC_DATA`, `svc.config.yaml:3`, or `default`. */
  readonly origin: string
}

/** Default settings. */
const DEFAULTS: JsonObject = {
  dev: { host: '127.0.0.1', port: 4310 },
  include: ['**/*.{yaml,yml,json}'],
  lint: { profile: 'recommended' },
  workspace: 'default',
}

export async function configList(call: CommandContext<ValueOf<typeof settingsAnswer>>): Promise<void> {
  const settings = await readSettings(call)
  const items = call.given.flag('origin') ? settings : settings.map(({ key, value }) => ({ key, value }))
  await printList(call, { items, total: items.length }, columns(call.given.flag('origin')), 'Nothing is set.')
}

const columns = (
  origin: boolean,
): readonly TableColumn<Pick<ConfigSetting, 'key' | 'value'> & Partial<ConfigSetting>>[] => [
  { title: 'KEY', cell: ({ key }) => key },
  { title: 'VALUE', cell: ({ value }) => textOf(value) },
  ...(origin ? [{ title: 'ORIGIN', cell: (each: Partial<ConfigSetting>) => each.origin ?? '' }] : []),
]

export async function configGet(
  call: CommandContext<ValueOf<typeof settingAnswer> | ValueOf<typeof settingsAnswer>>,
): Promise<void> {
  const { given, mode, out } = call
  const key = given.required(0)
  const settings = await readSettings(call)
  const one = settings.find((each) => each.key === key)
  const below = settings.filter((each) => each.key.startsWith(`${key}.`))
  if (!one && below.length === 0) {
    const keys = settings.map((each) => each.key)
    throw fail('not_found', { what: `setting ${key}` }, { fix: suggestWord(key, keys, 'svc config list shows them.') })
  }
  if (one) return mode.json ? await out.json(one) : out.line(textOf(one.value))
  await printList(call, { items: below, total: below.length }, columns(false), '')
}

/** Formats a scalar as text, other values as JSON. */
const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : safeJson(value))

/** Writes one key; comments and the order of the other keys stay. Refuses a value that would make the file invalid. */
export async function configSet(call: CommandContext<ValueOf<typeof changedSetting>>): Promise<void> {
  const { given, mode, out, cwd } = call
  const [key, text] = [given.required(0), given.required(1)]
  const project = await openProject(call)
  const file = given.flag('user') ? userConfigFile(call.io.env) : project.file
  if (file === undefined)
    throw fail('no_project', { directory: project.directory }, { fix: 'Add --user, or svc init.' })
  const before = await readFile(file, 'utf8').catch(emptyWhereMissing)
  const document = parseDocument(before)
  if (document.errors.length > 0) await configIn(before, file)
  const value = readValue(text)
  const path = pathIn((document.toJS() ?? {}) as JsonObject, key)
  document.setIn(path, value)
  const after = document.toString({ lineWidth: 0, flowCollectionPadding: false })
  await configIn(after, file)
  makeDirectory(dirname(file), 0o700)
  await writeUserFile(file, after)
  if (mode.json) return await out.json({ key, value, file })
  out.hint(`set ${key} to ${textOf(value)} in ${relative(cwd, file) || file}`)
}

/** Refuses to replace an unreadable file. */
function emptyWhereMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}

/** Parses one line of YAML: `4320`, `true`, `[agents/**]`; anything else is a string. */
function readValue(text: string): JsonValue {
  try {
    return parse(text) as JsonValue
  } catch {
    return text
  }
}

/** Dots separate keys, unless a key with dots is there already (`tools.acme.refunds`) or is quoted (`tools."acme.refunds"`). */
function pathIn(value: JsonValue, key: string): string[] {
  if (key === '') return []
  const [whole, quoted] = /^"([^"]*)"(?:\.|$)/.exec(key) ?? []
  if (whole !== undefined && quoted !== undefined)
    return [quoted, ...pathIn(memberOf(value, quoted), key.slice(whole.length))]
  const known = isJsonObject(value)
    ? Object.keys(value)
        .filter((each) => key === each || key.startsWith(`${each}.`))
        .toSorted((a, b) => b.length - a.length)[0]
    : undefined
  const first = known ?? textBefore(key, '.')
  return [first, ...pathIn(memberOf(value, first), key.slice(first.length + 1))]
}

const memberOf = (value: JsonValue, key: string): JsonValue =>
  (isJsonObject(value) ? ownMember(value, key) : undefined) ?? {}

/** Settings that are addresses, in which somebody may have put a password. */
const ADDRESS_KEY = /(?:^|_)url$/

/** Flag > environment > project file > user file > default. */
async function readSettings(call: CommandContext): Promise<readonly ConfigSetting[]> {
  const project = await openProject(call)
  const files = await Promise.all([
    readPlaces(userConfigFile(call.io.env), userConfigFile(call.io.env)),
    project.file === undefined ? [] : readPlaces(project.file, relative(call.cwd, project.file) || project.file),
  ])
  const places = new Map(files.flat())
  const merged = mergeConfig(DEFAULTS, { ...project.config } as JsonObject)
  const settings = leavesOf(merged).map(([path, value]) => ({
    key: path.join('.'),
    value: typeof value === 'string' && ADDRESS_KEY.test(path.at(-1) ?? '') ? showAddress(value) : value,
    origin: places.get(JSON.stringify(path)) ?? 'default',
  }))
  return [...settings, ...fromOutside(call, project)].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

/** Settings that only flags and the environment have. */
function fromOutside(call: CommandContext, project: Project): readonly ConfigSetting[] {
  const { globals, io } = call
  const ofEnvironment = (variable: string): string => (io.env[variable] ? variable : 'default')
  const origin = (flag: string | undefined, name: string, variable: string): string =>
    flag === undefined ? ofEnvironment(variable) : `--${name}`
  const url = project.apiUrl
  const profile = globals.profile ?? io.env['SVC_PROFILE']
  const { target } = project
  return [
    { key: 'data', value: project.dataDirectory, origin: origin(globals.data, 'data', 'SVC_DATA') },
    ...(profile ? [{ key: 'profile', value: profile, origin: origin(globals.profile, 'profile', 'SVC_PROFILE') }] : []),
    ...(url === undefined
      ? []
      : [
          {
            key: 'url',
            value: showAddress(url),
            origin: url === target?.url ? `profile ${profile}` : origin(globals.url, 'url', 'SVC_URL'),
          },
        ]),
    ...(target?.host === undefined
      ? []
      : [
          {
            key: 'host',
            value: showAddress(target.host),
            origin: io.env['SVC_HOST'] === target.host ? 'SVC_HOST' : `profile ${profile}`,
          },
        ]),
  ]
}

/** Paths of the values in a file, and the line of each. */
async function readPlaces(file: string, shown: string): Promise<readonly (readonly [string, string])[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  return leavesOf((document.toJS() ?? {}) as JsonObject).map(([path]) => {
    const node = document.getIn(path, true) as { readonly range?: readonly [number, number, number] } | undefined
    return [JSON.stringify(path), `${shown}:${lines.linePos(node?.range?.[0] ?? 0).line}`] as const
  })
}

function leavesOf(
  value: JsonValue,
  path: readonly string[] = [],
): readonly (readonly [readonly string[], JsonValue])[] {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return path.length === 0 ? [] : [[path, value]]
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...path, key]))
}
