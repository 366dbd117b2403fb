/** Finds the project file and the data directory, from options, environment and working directory. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { fileFailure } from '../../base/files/file-error.ts'
import { readBoundedText } from '../../base/files/read-bounded.ts'
import { CONFIG_FILE, type ProjectConfig } from '../../spec/project/config.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { CommandContext } from '../shell/command.ts'
import { statIfAny } from '../../base/files/sync-files.ts'
import { findApiKey, findApiUrl, findOperatorKey, readProfile, type RemoteProfile } from './profile.ts'
import { configIn, mergeConfig, readUserConfig } from './user-config.ts'
import { readStoreUrl } from './store-url.ts'
import { readWorkspaceName } from './workspace-file.ts'

/** Whose signature counts, beside the project file. */
export const TRUST_FILE = 'trust.yaml'

/** Workspace where neither the project file nor the data directory names one. */
const DEFAULT_WORKSPACE = 'default'

export interface Project {
  /** Directory of the project file; where there is none, the one the command acts in. */
  readonly directory: string
  /** Absent where no project file was found. */
  readonly file?: string
  readonly config: ProjectConfig
  readonly workspace: string
  readonly dataDirectory: string
  /** Address of a PostgreSQL database in place of the one in the data directory (`SVC_STORE`). */
  readonly store?: string
  /**
   * True where the data directory is certain: by a project file, `--data`, a document to act on, or since it exists. Other
   * commands must not create one.
   */
  readonly anchored: boolean
  /** A remote server, instead of that of the data directory. */
  readonly target?: RemoteProfile
  /** The operator listener named by `--url`; used only with a credential for it. */
  readonly operatorUrl?: string
  /** The API as the flag, the environment or the profile names it. */
  readonly apiUrl?: string
  /** With it commands are clients of the API; undefined = they act as the operator. */
  readonly apiKey: () => Promise<string | undefined>
  /** The operator's credential; undefined = the local identity of the channel. */
  readonly operatorKey: () => Promise<string | undefined>
}

/**
 * Reads the project file: `--config`, `SVC_CONFIG`, the nearest one upwards, else the nearest one above `near`.
 * @param near a path the command was given, absolute
 * @throws Failure `config_invalid`, `file_missing`, `file_unusable`, `usage`
 */
export async function openProject(
  { cwd, globals, io }: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  near?: string,
): Promise<Project> {
  // An empty value comes from a shell variable that is not set: the project's own data would be a surprise.
  if (globals.data === '' || globals.config === '')
    throw fail('usage', { what: `--${globals.data === '' ? 'data' : 'config'} names nothing.` })
  const file = projectFile({ cwd, globals, io }, near)
  const own = file ? await readProject(file) : {}
  const config = mergeConfig((await readUserConfig(io.env)) as JsonObject, own as JsonObject) as ProjectConfig
  const without = near ? directoryOf(near) : cwd
  const directory = file ? dirname(file) : without
  const data = globals.data ?? io.env['SVC_DATA']
  const dataDirectory = data ? resolve(cwd, data) : join(directory, '.svc')
  const workspace = config.workspace ?? readWorkspaceName(dataDirectory) ?? DEFAULT_WORKSPACE
  const target = readProfile({ globals, io }, config, directory)
  const store = readStoreUrl(io.env['SVC_STORE'])
  const apiUrl = findApiUrl({ globals, io }, target)
  return {
    directory,
    ...(file && { file }),
    config,
    workspace,
    dataDirectory,
    ...(store !== undefined && { store }),
    anchored: Boolean(file ?? data ?? near) || existsSync(dataDirectory),
    ...(target && { target }),
    ...(globals.url !== undefined && { operatorUrl: globals.url }),
    ...(apiUrl !== undefined && { apiUrl }),
    apiKey: findApiKey({ cwd, globals, io }, target),
    operatorKey: findOperatorKey({ cwd, globals, io }, target),
  }
}

/** The directory of the project; does not read the project file. */
export function projectRoot(call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>): string {
  const file = projectFile(call)
  return file ? dirname(file) : call.cwd
}

function projectFile(
  { cwd, globals, io }: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  near?: string,
): string | undefined {
  const named = globals.config ?? io.env['SVC_CONFIG']
  return named ? resolve(cwd, named) : (nearest(cwd) ?? (near && nearest(near)))
}

async function readProject(file: string): Promise<ProjectConfig> {
  let text: string
  try {
    text = readBoundedText(file)
  } catch (error) {
    throw fileFailure(error, { path: file, doing: 'read' }) ?? error
  }
  return await configIn(text, file)
}

function nearest(from: string): string | undefined {
  for (let at = directoryOf(from); ; at = dirname(at)) {
    const file = join(at, CONFIG_FILE)
    if (isFile(file)) return file
    if (dirname(at) === at) return undefined
  }
}

const isFile = (path: string): boolean => statIfAny(path)?.isFile() ?? false

const directoryOf = (path: string): string => (isFile(path) ? dirname(path) : path)
