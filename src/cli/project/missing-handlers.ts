/** Programs of tools that are not there: files that a `command` of the project file names. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, relative, resolve } from 'node:path'
import { pointerTo } from '../../base/json/pointer.ts'
import { createSpans } from '../../documents/text/document.ts'
import { decodeUtf8 } from '../../documents/text/decode.ts'
import { readYaml } from '../../documents/text/yaml.ts'
import type { MissingHandler } from '../../documents/facts/rule.ts'
import type { Project } from './project.ts'

/** Programs that run the file which is their first argument. */
const INTERPRETERS = ['node', 'bun', 'tsx', 'python', 'python3', 'ruby', 'perl', 'php', 'sh', 'bash']

/** The missing file of each tool, by the tool's id. */
export async function findMissingHandlers({
  directory,
  file,
  config,
}: Pick<Project, 'directory' | 'file' | 'config'>): Promise<ReadonlyMap<string, MissingHandler>> {
  const missing = new Map<string, MissingHandler>()
  for (const [id, route] of Object.entries(config.tools ?? {})) {
    const named = 'command' in route ? findFileIn(route.command) : undefined
    if (named === undefined || existsSync(resolve(directory, named.file))) continue
    missing.set(id, { file: named.file, place: await placeOf(id, named.at, directory, file) })
  }
  return missing
}

/** The file, with its place among program and arguments; undefined where the command names none for certain. */
function findFileIn(command: readonly string[]): { readonly file: string; readonly at: number } | undefined {
  const [program = '', first = ''] = command
  if (INTERPRETERS.includes(basename(program, '.exe')) && isFile(first)) return { file: first, at: 1 }
  // A bare name is looked up in PATH.
  return /[/\\]/.test(program) ? { file: program, at: 0 } : undefined
}

/** An option or a subcommand is no file. */
const isFile = (argument: string): boolean => !argument.startsWith('-') && /[./\\]/.test(argument)

/** `svc.config.yaml:7`; the path of the value where the user's own settings name the tool. */
async function placeOf(id: string, at: number, directory: string, file: string | undefined): Promise<string> {
  const elsewhere = `tools.${id}.command`
  if (file === undefined) return elsewhere
  const pointer = ['tools', id, 'command', at].reduce<string>(pointerTo, '')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  const { source } = text === undefined ? {} : decodeUtf8({ path: relative(directory, file), text })
  const root = source && readYaml(source).roots[0]
  const span = source && root && createSpans(source, root).spanOf(pointer)
  return span ? `${source.path}:${span.start.line}` : elsewhere
}
