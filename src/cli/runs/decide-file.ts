/** The file of `svc run --decide`: a list of answers, as in `decide` of a scenario. Source: docs/design/command-line.md#tests */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { fromJson, fromJsonList } from '../../base/json/typed-json.ts'
import { fail } from '../../base/failure.ts'
import { createSpans } from '../../documents/text/document.ts'
import { decodeUtf8 } from '../../documents/text/decode.ts'
import { checkShape } from '../../documents/workspace/shape.ts'
import { readYaml } from '../../documents/text/yaml.ts'
import type { CommandContext } from '../shell/command.ts'
import { readText } from './input.ts'
import type { Project } from '../project/project.ts'
import {
  createScriptedAnswers,
  ruleFindings,
  type DecisionRule,
  type ScriptedAnswers,
} from '../../scenario/decisions.ts'
import { readServerFile } from '../project/server/running-server.ts'
import type { ServerTarget } from '../project/server/target.ts'
import { createSource } from '../../documents/text/source.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/**
 * The rules of `--decide`, undefined where it was not given.
 * @throws Failure `usage` for a file that holds none, and for a server that is not a `svc dev` of this project
 */
export async function readDecisions(
  call: CommandContext,
  project: Project,
  target: ServerTarget,
): Promise<ScriptedAnswers | undefined> {
  const file = call.given.text('decide')
  if (file === undefined) return undefined
  const running = await readServerFile(project.dataDirectory)
  if (!target.operator || running?.key === undefined)
    throw fail(
      'usage',
      { what: '--decide answers for people, which only `svc dev` allows.' },
      { fix: 'Start svc dev in this project, and give no key.' },
    )
  return createScriptedAnswers(readRules(await readText(file, call), file))
}

function readRules(text: string, path: string): readonly DecisionRule[] {
  const { source } = decodeUtf8({ path, text })
  const reading = source && readYaml(source)
  const fault = reading?.findings[0]
  if (fault) throw fail('usage', { what: `${path}:${fault.range.start.line}: ${fault.message}` })
  const root = reading?.roots[0]
  const rules = root?.value
  if (!source || !root || !Array.isArray(rules) || !rules.every(isJsonObject))
    throw fail('usage', { what: `${path} is not a list of decisions.` })
  // Checked like `decide` of a scenario; since the places are those of a made-up document, entries are named by position.
  const [wrong] = rules.flatMap((rule, at) => problemsOf(rule).map((message) => `${path}: entry ${at + 1}: ${message}`))
  if (wrong !== undefined) throw fail('usage', { what: wrong })
  return fromJsonList<DecisionRule>(rules)
}

function problemsOf(rule: JsonObject): string[] {
  const source = createSource('', JSON.stringify({ scenario: '-', decide: [rule] }))
  const file = createSpans(source, expectDefined(readYaml(source).roots[0], 'a text of JSON is one document'))
  const wrong = checkShape('scenario', file)
  return (wrong.length > 0 ? wrong : ruleFindings(file, [fromJson<DecisionRule>(rule)], '/decide')).map(
    ({ message }) => message,
  )
}
