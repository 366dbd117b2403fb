import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { isGated } from '../../facts/policies/authority.ts'
import { toolsOf } from '../../facts/agents/bindings.ts'
import { wordsOf } from '../../facts/agents/capabilities.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { SchemaText } from '../../schemas/schemas.ts'

export const securityExecTool: LintRule = {
  severity: 'warning',
  law: 'A tool that executes code or commands from the model is gated.',
  fix: 'Bound the argument by `enum` or `pattern`, and require an approval.',
  reason: 'A model that was misled can run any command.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    for (const use of toolsOf(document)) {
      if (isGated(project, use)) continue
      const schema = inputOf(project.workspace, use)
      if (schema === undefined) continue
      const runs = (): boolean => wordsOf(use.ref?.id ?? '').some((word) => EXECUTORS.has(word))
      const argument = scriptsIn(project.workspace, schema).find((name) => COMMANDS.has(name.toLowerCase()) || runs())
      if (argument === undefined) continue
      report(
        `${use.pointer}/ref`,
        `${use.ref?.id ?? 'This tool'} executes anything that the model writes as "${argument}", without a gate.`,
      )
    }
  },
}

/** Free-text arguments whose name suggests a command, or the input of a tool that executes code. */
const scriptsIn = memoizePerObject((_, { value }: SchemaText): readonly string[] => {
  const properties = isJsonObject(value) ? value['properties'] : undefined
  if (!isJsonObject(properties)) return []
  return Object.keys(properties).filter((name) => {
    const word = name.toLowerCase()
    return (COMMANDS.has(word) || TEXTS.has(word)) && isFreeText(properties[name])
  })
})

const isFreeText = (property: JsonValue | undefined): boolean =>
  isJsonObject(property) &&
  property['type'] === 'string' &&
  !['enum', 'const', 'pattern'].some((key) => Object.hasOwn(property, key))

const EXECUTORS = new Set('shell bash sh exec eval python sql terminal command repl'.split(' '))
const COMMANDS = new Set('cmd command shell script sql code bash'.split(' '))
const TEXTS = new Set('input query text args program statement expression'.split(' '))
