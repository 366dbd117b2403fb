/** Reads a `.claude` folder, the folder of a project or plugin, or one file of them. Source: code.claude.com/docs/en/sub-agents. */
import { basename, dirname, join } from 'node:path'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { linkStatIfAny } from '../../../base/files/sync-files.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import type { AgentSource, ForeignAgent, ForeignProject } from '../../agents/foreign-project.ts'
import { namesOf } from '../../agents/foreign-value.ts'
import { reportRules } from '../../agents/permission-rules.ts'
import { kindOfSource, listSourceFiles, readSourceFile } from '../../agents/source-folder.ts'
import { parseSource } from '../../read-source.ts'
import { readClaudeAgent, readModel, type ClaudeParts } from './claude-agent.ts'
import { readServers } from './claude-servers.ts'
import { concernsServers, readSettings } from './claude-settings.ts'
import { readSkill, type ClaudeSkill } from './claude-skills.ts'
import { readMarkdown } from './front-matter.ts'

/** @throws Failure `usage`, `file_missing`, `file_unusable` */
export async function readClaude({ path, losses }: AgentSource): Promise<ForeignProject> {
  await Promise.resolve()
  const isFolder = kindOfSource(path) === 'folder'
  const root = isFolder ? path : dirname(path)
  const files = isFolder ? filesOf(root, losses) : [basename(path)]
  const read = (file: string): string => readSourceFile(root, file)
  const json = (file: string): JsonObject => {
    const value = parseSource(read(file), file)
    if (!isJsonObject(value)) throw usageFailure(`${file} is no JSON object.`)
    return value
  }
  const settingsFiles = files
    .filter((file) => /(?:^|\/)settings(?:\.local)?\.json$/.test(file))
    .toSorted((a, b) => Number(a.includes('.local.')) - Number(b.includes('.local.')))
    .map((file) => ({ path: file, value: json(file) }))
  const servers = new Map(
    [
      ...files.filter((file) => /(?:^|\/)\.?mcp\.json$/.test(file)).map((file) => ({ path: file, value: json(file) })),
      ...settingsFiles,
    ].flatMap((file) => [...readServers(file.value['mcpServers'], file.path)]),
  )
  const skillFiles = files.filter((file) => /(?:^|\/)SKILL\.md$/.test(file))
  const skills = new Map(
    skillFiles.map((file) => {
      const folder = file.slice(0, -'SKILL.md'.length)
      const beside = isFolder ? files.filter((each) => each !== file && folder !== '' && each.startsWith(folder)) : []
      const skill = readSkill(read(file), file, beside, losses)
      return [skill.name, skill] as const
    }),
  )
  const parts: ClaudeParts = { settings: readSettings(settingsFiles, losses), servers, skills, losses }
  const agentFiles = files.filter((file) =>
    isFolder ? /(?:^|\/)agents\/.*\.md$/i.test(file) : /\.md$/i.test(file) && !skillFiles.includes(file),
  )
  const documents = agentFiles.map((file) => ({ file, markdown: readMarkdown(read(file), file) }))
  const agents = documents.map(({ file, markdown }) => readClaudeAgent(markdown, file, parts))
  const preloaded = new Set(documents.flatMap(({ markdown }) => namesOf(markdown.fields['skills'])))
  const own = [...skills.values()].filter(({ name }) => !preloaded.has(name)).map((skill) => skillAgent(skill, parts))
  reportRest(files, losses)
  const all = distinctAgents([...agents, ...own], losses)
  reportRules(
    parts.settings.rules,
    all.flatMap(({ tools }) => tools.map(({ shownAs }) => shownAs!)),
    concernsServers,
    losses,
  )
  const title = basename(path) === '.claude' ? basename(dirname(path)) : basename(path).replace(/\.md$/i, '')
  return { title, agents: all, root: undefined }
}

/** A project has a folder `.claude` and servers beside it; a plugin has the same folders as `.claude`. */
function filesOf(root: string, losses: ClaudeParts['losses']): readonly string[] {
  const skip = (file: string, why: string): void => losses.add(file, why)
  const inner = linkStatIfAny(join(root, '.claude'))
  if (!inner?.isDirectory()) return listSourceFiles(root, skip)
  const beside = ['.mcp.json', 'CLAUDE.md'].filter((file) => linkStatIfAny(join(root, file))?.isFile())
  return [
    ...listSourceFiles(join(root, '.claude'), (file, why) => skip(`.claude/${file}`, why)).map(
      (file) => `.claude/${file}`,
    ),
    ...beside,
  ]
}

/** A skill that no agent names is one that its session took up by itself. */
function skillAgent(skill: ClaudeSkill, { settings, losses }: ClaudeParts): ForeignAgent {
  losses.add(skill.path, 'no agent names the skill: it becomes an agent of its own')
  return {
    name: skill.name,
    at: skill.path,
    purpose: skill.description,
    instructions: skill.body,
    model: readModel(skill.fields, settings),
    tools: [],
    agents: [],
  }
}

const NOT_CARRIED: readonly (readonly [RegExp, string])[] = [
  [/(?:^|\/)commands\/.*\.md$/i, 'a command of its program is not carried'],
  [/(?:^|\/)CLAUDE\.md$/, 'what its session is told is not carried: put it into the prompts'],
  [/(?:^|\/)hooks\//, 'hooks are not carried, and never run'],
  [/(?:^|\/)rules\/.*\.md$/i, 'rules of its session are not carried: put them into the prompts'],
]

function reportRest(files: readonly string[], losses: ClaudeParts['losses']): void {
  for (const file of files) {
    const [, why] = NOT_CARRIED.find(([form]) => form.test(file)) ?? []
    if (why !== undefined) losses.add(file, why, why.startsWith('hooks'))
  }
}

function distinctAgents(agents: readonly ForeignAgent[], losses: ClaudeParts['losses']): readonly ForeignAgent[] {
  const found = new Map<string, ForeignAgent>()
  for (const agent of agents) {
    const first = found.get(agent.name)
    if (first) losses.add(agent.at, `left out: ${first.at} has the same name`)
    else found.set(agent.name, agent)
  }
  return [...found.values()]
}
