/**
 * The user's settings for all projects: `$XDG_CONFIG_HOME/svc/config.yaml`; the project file overrides them.
 * Source: docs/design/command-line.md#settings
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import { readTextIfAny } from '../../base/files/sync-files.ts'
import type { Io } from '../shell/io.ts'

/** `$XDG_CONFIG_HOME/svc`, else `~/.config/svc`. */
export const userDirectory = (env: Io['env']): string =>
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'svc')

export const userConfigFile = (env: Io['env']): string => join(userDirectory(env), 'config.yaml')

/** @throws Failure `config_invalid` */
export async function readUserConfig(env: Io['env']): Promise<ProjectConfig> {
  const file = userConfigFile(env)
  const text = readTextIfAny(file)
  return text === '' ? {} : await configIn(text, file)
}

/** The configuration in a file's text. @throws Failure `config_invalid` with the place of the first error */
export async function configIn(text: string, file: string): Promise<ProjectConfig> {
  // Loaded on demand: without a configuration the YAML reader is not needed.
  const { readConfig } = await import('../../documents/workspace/config.ts')
  const { config, findings } = await readConfig(text, file)
  const first = findings.find((each) => each.severity === 'error')
  if (config && !first) return config
  throw fail('config_invalid', {
    what: first
      ? `${file}:${first.range.start.line}:${first.range.start.column}: ${first.message}`
      : `${file} is not a project file.`,
  })
}

/** Merges objects key by key; for other values, including lists, `upper` wins. */
export function mergeConfig(lower: JsonObject, upper: JsonObject): JsonObject {
  const merged: JsonObject = { ...lower }
  for (const [key, value] of Object.entries(upper)) {
    const below = lower[key]
    merged[key] = isJsonObject(below) && isJsonObject(value) ? mergeConfig(below, value) : value
  }
  return merged
}
