/** `settings.json`: rules that permit calls, hooks, and the model. */
import { objectOf, type JsonObject } from '../../../base/json/json.ts'
import { foreignTextOf, textsOf } from '../../agents/foreign-value.ts'
import { reportOddMembers } from '../../agents/odd-members.ts'
import type { PermissionRule } from '../../agents/permission-rules.ts'
import type { ForeignRule } from '../../agents/foreign-project.ts'
import { quoteForeign } from '../../foreign-text.ts'
import type { LossList } from '../../losses.ts'

export interface ClaudeSettings {
  readonly rules: readonly PermissionRule[]
  /** Of agents that name none. */
  readonly model: string | undefined
}

/** Strictest first. Source: code.claude.com/docs/en/permissions. */
export const CLAUDE_ORDER: readonly ForeignRule[] = ['deny', 'ask', 'allow']

export function readSettings(
  files: readonly { readonly path: string; readonly value: JsonObject }[],
  losses: LossList,
): ClaudeSettings {
  const rules = files.flatMap(({ path, value }) => {
    reportOddMembers(value, { permissions: 'mapping', model: 'text' }, path, losses, ['permissions'])
    const permissions = objectOf(value['permissions'])
    const place = `${path} permissions`
    reportOddMembers(permissions, { deny: 'texts', ask: 'texts', allow: 'texts' }, place, losses, CLAUDE_ORDER)
    const mode = permissions['defaultMode'] ?? 'default'
    if (mode !== 'default')
      losses.add(`${place}.defaultMode`, `the mode ${quoteForeign(mode, 40)} is not carried`, true)
    const { hooks = null } = value
    if (hooks !== null && Object.keys(hooks).length > 0)
      losses.add(`${path} hooks`, 'hooks are not carried, and a hook may forbid calls', true)
    if (value['env'] !== undefined) losses.add(`${path} env`, 'variables are not carried')
    return CLAUDE_ORDER.flatMap((rule) => textsOf(permissions[rule]).map((text) => readRule(rule, text)))
  })
  return {
    rules,
    model: files.map(({ value }) => foreignTextOf(value['model'])).findLast((each) => each !== undefined),
  }
}

/** `mcp__server` stands for all tools of a server; what stands in brackets asks about arguments. */
function readRule(rule: ForeignRule, text: string): PermissionRule {
  const [, name = text, arguments_] = /^([^()]*)(\([\s\S]*\))?$/.exec(text) ?? []
  const isServer = /^mcp__(?:(?!__)[^*])+$/.test(name)
  const pattern = isServer ? `${name}__*` : name
  return { rule, text, pattern: arguments_ === undefined ? pattern : undefined }
}

/** Rules about tools of servers, and about all. */
export const concernsServers = (text: string): boolean => /^mcp__|^\*/.test(text)
