/** Writes a secret to `.env` beside the project file. The value comes from a hidden prompt or from standard input only. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { isJsonObject } from '../../../base/json/json.ts'
import type { CommandContext } from '../../shell/command.ts'
import type { writtenSecret } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { readDotEnv, writeDotEnv } from '../../project/dot-env.ts'
import { openProject, type Project } from '../../project/project.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { loadDocuments } from '../../project/documents.ts'

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** Far above any key; a certificate chain fits. */
const MAX_CHARS = 64 * 1024

export async function secretsSet(call: CommandContext<ValueOf<typeof writtenSecret>>): Promise<void> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  if (project.file === undefined) throw usageFailure(`There is no svc.config.yaml above ${call.cwd}.`, 'svc init')
  const name = await variableOf(project, given.required(0))
  const value = await askValue(call, name)
  await writeDotEnv(project.directory, name, value)
  const file = join(project.directory, '.env')
  const seen = `${value.length} chars, ${hash('sha256', value, 'hex').slice(0, 4)}`
  if (mode.json) return await out.json({ name, file, seen })
  out.line(`${name} is in ${file} (${seen}); git ignores it`)
  const winner = io.env[name] === undefined ? (await readDotEnv(project.directory)).get(name)?.place : 'the environment'
  if (winner !== undefined && !winner.startsWith('.env:'))
    out.message(`${name} is also set in ${winner}, which takes precedence.`)
}

/** The name of a secret stands for the variable from which the documents take it. */
async function variableOf(project: Project, typed: string): Promise<string> {
  const { documents } = await loadDocuments(project)
  const declared = documents
    .flatMap((document) => document.at('secrets').flatMap(({ value }) => (isJsonObject(value) ? [value] : [])))
    .flatMap((secrets) => (Object.hasOwn(secrets, typed) ? [secrets[typed]] : []))
    .flatMap((secret) => (isJsonObject(secret) && typeof secret['fromEnv'] === 'string' ? [secret['fromEnv']] : []))[0]
  const name = declared ?? typed
  if (!VARIABLE.test(name)) throw usageFailure(`"${name}" is not a variable name.`, 'svc secrets set ANTHROPIC_API_KEY')
  return name
}

async function askValue({ mode, io, signal }: CommandContext, name: string): Promise<string> {
  if (!mode.interactive && io.stdin.isTTY)
    throw usageFailure('The value is read from standard input.', `svc secrets set ${name} < FILE`)
  const typed = mode.interactive ? await io.prompts.secret(`${name}:`, signal) : await io.stdin.text()
  const value = typed.trim()
  if (value === '') throw usageFailure(`No value was given for ${name}; nothing was written.`)
  if (value.length > MAX_CHARS)
    throw usageFailure(`The value of ${name} is longer than ${MAX_CHARS} characters; nothing was written.`)
  return value
}
