import type { JsonValue } from '../../../base/json/json.ts'
import type { ConditionLeaf } from '../../../policy/condition/condition.ts'
import { innerPathText } from '../../../policy/condition/path.ts'
import { isAlwaysUnknown } from '../../../policy/prove/satisfiable.ts'
import { gatedBindings } from '../../facts/policies/attachments.ts'
import { toolDocument } from '../../facts/agents/bindings.ts'
import { replaceScalarFix, type FindingFix, type FindingPlace } from '../../text/diagnostic.ts'
import { domainAfter } from '../../../policy/prove/function-domain.ts'
import { conditionProblems, leavesIn } from '../../facts/policies/conditions.ts'
import type { Document } from '../../text/document.ts'
import { ownInput, toolInput } from '../../facts/agents/inputs.ts'
import { pointerAlong } from '../../text/property.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { SchemaText } from '../../schemas/schemas.ts'
import {
  isPossibleValue,
  possibleValuesUnder,
  typeOf,
  withoutSchema,
  type PossibleValues,
} from '../../../policy/prove/possible-values.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const policyTypeMismatch: LintRule = {
  severity: 'error',
  law: 'A condition compares values of the same type.',
  fix: 'Write a value of the type of the argument.',
  reason: 'Values are not converted: the string "900" and the number 900 are never equal.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    for (const { code, pointer, message } of conditionProblems(document)) {
      if (code !== 'type') continue
      const place = document.placeOf(pointer)
      const written = document.source.text.slice(place.range.start.offset, place.range.end.offset)
      const number = /^["'](-?\d+(?:\.\d+)?)["']$/.exec(written)?.[1]
      report(
        place,
        message,
        number === undefined
          ? {}
          : { fix: replaceScalarFix(place, Number(number), `Replace ${written} with ${number}.`) },
      )
    }
    const inputs = [...inputsOf(workspace, document)].map((input) => ({
      input,
      domains: possibleValuesUnder(input.value),
    }))
    for (const { pointer, leaf } of leavesIn(document)) {
      // Only the first schema that rules out the comparison is reported.
      const seen =
        leaf.path.root === 'args' && inputs.length > 0 ? inputs : [{ input: undefined, domains: withoutSchema }]
      for (const { input, domains } of seen) {
        const domain = domains(leaf.path)
        if (domain === undefined || !isAlwaysUnknown(leaf, domain)) continue
        const place = document.placeOf(`${pointer}/value`)
        report(place, messageOf(leaf, domain), {
          why: 'The comparison is unknown for every call: a gate would stop them all, a grant none.',
          ...fixOf(document.placeOf(`${pointer}/field`), place, leaf, domain),
          ...(input !== undefined && {
            related: [
              {
                path: input.spans.source.path,
                range: input.spans.placeOf(`${input.base}${pointerAlong(leaf.path.segments)}/type`).range,
                message: `${innerPathText(leaf.path)} is \`type: ${namesOf(domain).join(', ')}\` here`,
              },
            ],
          }),
        })
      }
    }
  },
}

function messageOf({ path, op, value }: ConditionLeaf, domain: PossibleValues): string {
  const types = namesOf(domain).join(' or ')
  if (path.fn !== undefined && domainAfter(path.fn, domain).types.length === 0)
    return `${path.fn}() has no result for ${innerPathText(path)}, which is ${types}.`
  const is = path.fn === undefined ? types : namesOf(domainAfter(path.fn, domain)).join(' or ')
  return `${path.text} is ${is}; \`${op}\` compares it with ${JSON.stringify(value)}.`
}

/** A fix that converts the value to the expected type, or removes a function that does not apply. */
function fixOf(
  field: FindingPlace,
  place: FindingPlace,
  { path, value }: ConditionLeaf,
  domain: PossibleValues,
): { readonly fix?: FindingFix } {
  const after = domainAfter(path.fn, domain)
  const meant = convertedTo(value, after)
  if (meant !== undefined) return { fix: replaceScalarFix(place, meant) }
  const inner = innerPathText(path)
  return path.fn !== undefined && after.types.length === 0 ? { fix: replaceScalarFix(field, inner) } : {}
}

function convertedTo(value: JsonValue, domain: PossibleValues): string | number | boolean | undefined {
  const reading = convert(value)
  return reading !== undefined && isPossibleValue(domain, reading) ? reading : undefined
}

/** A text as the literal that it spells, a literal as its text. */
function convert(value: JsonValue): string | number | boolean | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === 'true' || value === 'false') return value === 'true'
  return typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,6})?$/.test(value) ? Number(value) : undefined
}

/** The types of a domain as authors write them in a schema. */
const namesOf = ({ values, types, integer }: PossibleValues): readonly string[] =>
  (values === undefined ? types : [...new Set(values.map(typeOf))]).map((type) =>
    type === 'number' && integer ? 'integer' : type,
  )

/** The input schemas of the calls a policy gates: one per tool, and those that bindings override. */
function inputsOf(workspace: Workspace, policy: Document): ReadonlySet<SchemaText> {
  const inputs = new Set<SchemaText>()
  for (const use of gatedBindings(workspace, policy)) {
    const tool = toolDocument(workspace, use)
    const declared = tool && toolInput(workspace, tool)
    const own = ownInput(workspace, use)
    if (declared !== undefined) inputs.add(declared)
    if (own !== undefined) inputs.add(own)
  }
  return inputs
}
