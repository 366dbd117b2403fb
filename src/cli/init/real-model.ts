/** Turns a template with scripted models into one with a real model, whose scenarios keep their scripts. */

export interface TemplateFile {
  /** Below the directory, with slashes. */
  readonly path: string
  readonly text: string
}

export interface RealModel {
  readonly name: string
  /** Variable of the key; absent for a server that wants none. */
  readonly env?: string
  /** Entry of `providers` in svc.config.yaml, for a provider that svc does not know by itself. */
  readonly provider?: string
  /** Steps that a person takes before the first run. */
  readonly before: string
}

export type RealModelProvider = 'openai' | 'anthropic' | 'ollama'

export const REAL_MODELS: Readonly<Record<RealModelProvider, RealModel>> = {
  openai: { name: 'gpt-5-mini', env: 'OPENAI_API_KEY', before: 'svc secrets set OPENAI_API_KEY' },
  anthropic: { name: 'claude-sonnet-5', env: 'ANTHROPIC_API_KEY', before: 'svc secrets set ANTHROPIC_API_KEY' },
  ollama: {
    name: 'qwen3:8b',
    provider: '{ type: openai-compatible, base_url: http://127.0.0.1:11434/v1 }',
    before: 'ollama pull qwen3:8b',
  },
}

/** The `model` of an agent of a template: offline, with or without a script. */
const OFFLINE_MODEL =
  /^ {2}model:\n {4}provider: (scripted|auto)\n {4}name: .*\n(?: {4}provider_options:\n {6}script: (.*)\n)?/m
const ROOT_OF_BUNDLE = /^ +root: agents\/(.+)\.yaml$/m

export function withRealModel(files: readonly TemplateFile[], provider: RealModelProvider): readonly TemplateFile[] {
  const agents = files.filter(isAgent)
  const scripts = new Map(agents.flatMap(({ text }) => scriptOf(text)))
  const root = rootOf(files, scripts)
  return files.map((file) => {
    if (isAgent(file)) return { ...file, text: withModel(file.text, provider) }
    if (file.path.endsWith('.scenario.yaml')) {
      const documents = file.text.split(/^(?=---$)/m).map((text) => withScripts(text, scripts, root))
      return { ...file, text: documents.join('') }
    }
    if (file.path === 'svc.config.yaml') return { ...file, text: withProvider(file.text, provider) }
    return file
  })
}

/** Examples of faults stay as they are. */
const isAgent = ({ path, text }: TemplateFile): boolean =>
  /^kind: Agent$/m.test(text) && OFFLINE_MODEL.test(text) && !path.startsWith('defects/')

function scriptOf(text: string): (readonly [id: string, script: string])[] {
  const [name] = /(?<=^ {2}name: )\S+$/m.exec(text) ?? []
  const [namespace] = /(?<=^ {2}namespace: )\S+$/m.exec(text) ?? []
  const [, provider = '', script = provider] = OFFLINE_MODEL.exec(text) ?? []
  return [[`${namespace}.${name}`, script]]
}

/** The agent that scenarios start, which is the one with which the bundle begins. */
function rootOf(files: readonly TemplateFile[], scripts: ReadonlyMap<string, string>): string | undefined {
  const bundle = files.find(({ path }) => path === 'bundle.yaml')?.text ?? ''
  const named = ROOT_OF_BUNDLE.exec(bundle)?.[1]
  return [...scripts.keys()].find((id) => named !== undefined && id.endsWith(`.${named}`)) ?? [...scripts.keys()][0]
}

function withModel(text: string, provider: RealModelProvider): string {
  const { name, env } = REAL_MODELS[provider]
  const real = text.replace(OFFLINE_MODEL, `  model:\n    provider: ${provider}\n    name: ${name}\n`)
  return env === undefined
    ? real
    : real.replace(/^(?:output|spec):/m, `secrets:\n  ${provider}:\n    fromEnv: ${env}\n$&`)
}

/** One scenario of a file. */
function withScripts(text: string, scripts: ReadonlyMap<string, string>, root: string | undefined): string {
  const linesFor = (own?: string): string =>
    [
      'model:',
      '  scripts:',
      ...[...scripts].map(([id, script]) => `    ${id}: ${id === root ? (own ?? script) : script}`),
    ].join('\n')
  if (!/^model:/m.test(text)) return text.replace(/^scenario: .*$/m, (line) => `${line}\n${linesFor()}`)
  return text.replaceAll(/^model: (\S+)$/gm, (_, model: string) => linesFor(model === 'scripted' ? undefined : model))
}

function withProvider(text: string, provider: RealModelProvider): string {
  const entry = REAL_MODELS[provider].provider
  return entry === undefined ? text : `${text.trimEnd()}\nproviders:\n  ${provider}: ${entry}\n`
}
