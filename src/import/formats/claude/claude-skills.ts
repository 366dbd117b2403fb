/** Skills: `SKILL.md` as instructions. The files beside it are named, and its scripts never run. */
import { foreignTextOf } from '../../agents/foreign-value.ts'
import type { LossList } from '../../losses.ts'
import { readMarkdown } from './front-matter.ts'
import type { JsonObject } from '../../../base/json/json.ts'

export interface ClaudeSkill {
  readonly name: string
  readonly path: string
  readonly description: string | undefined
  readonly body: string
  readonly fields: JsonObject
}

export function readSkill(text: string, path: string, beside: readonly string[], losses: LossList): ClaudeSkill {
  const { fields, body } = readMarkdown(text, path)
  const folder = path.replace(/\/?[^/]*$/, '')
  if (fields['allowed-tools'] !== undefined)
    losses.add(path, '`allowed-tools` is a wish of the skill and grants nothing here')
  if (/!`[^`\n]+`/.test(body)) losses.add(path, 'commands in its text are not run')
  for (const file of beside)
    losses.add(
      file,
      SCRIPT.test(file)
        ? 'a script of the skill is not carried, and never run'
        : 'a file of the skill is not carried: an agent opens no files; put what it needs into the prompt',
    )
  return {
    name: foreignTextOf(fields['name']) ?? (folder.replace(/^.*\//, '') || 'skill'),
    path,
    description: foreignTextOf(fields['description']),
    body,
    fields,
  }
}

const SCRIPT = /\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|php|ps1|bat|cmd|exe|jar|go|rs)$|(?:^|\/)(?:scripts|bin)\//i
