import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import type { ModelSpec } from '../../../spec/document.ts'
import {
  findToolSchemaFaults,
  vendorToolLimits,
  type ToolSchemaFault,
  type VendorToolLimits,
} from '../../../spec/vendor-tool-limits.ts'
import { subAgentsOf, textMember, toolsOf, wireNameOf } from '../../facts/agents/bindings.ts'
import { inputOf } from '../../facts/agents/inputs.ts'
import { mcpUsesOf } from '../../facts/agents/mcp-uses.ts'
import { fallbackOf } from '../../facts/agents/model-fallback.ts'
import type { LintProject, LintRule } from '../../facts/rule.ts'
import { mappingIn, type Document } from '../../text/document.ts'
import { ownMember } from '../../../base/json/own-member.ts'

export const toolVendorLimit: LintRule = {
  severity: 'warning',
  law: 'The vendor of the model takes the names, schemas and number of the tools of an agent.',
  fix: 'Rename the property, or write the schema without the keyword.',
  reason:
    'A vendor refuses the whole request for one such tool. svc sends another name or schema in its place where it can, with which models work less surely; too many tools it cannot mend.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, project) {
    const { workspace, mcp } = project
    const uses = toolsOf(document)
    for (const limits of limitsOf(document, project)) {
      for (const use of uses) {
        const schema = inputOf(workspace, use)
        if (schema !== undefined)
          for (const fault of findToolSchemaFaults(limits, schema.value)) {
            const place = schema.keyPlaceOf(fault.pointer)
            const { path, range } = document.placeOf(use.pointer)
            report(place, describeFault(limits, fault), {
              ...(place.path !== document.path && { related: [{ path, range, message: 'used here' }] }),
            })
          }
        const wire = wireNameOf(workspace, use)
        if (wire !== undefined && limits.toolName?.test(wire) === false)
          report(use.pointer, `${limits.vendor} refuses "${wire}" as the name of a tool.`, {
            fix: 'Give it a name with `as`.',
          })
      }
      for (const { use, server, tool } of mcpUsesOf(workspace, document)) {
        const listing = mcp?.get(document)?.get(server)
        const listed = listing === undefined || 'problem' in listing ? undefined : listing.tools.get(tool)
        // A schema in a document is sent instead of the listed one.
        if (listed === undefined || inputOf(workspace, use) !== undefined) continue
        for (const fault of findToolSchemaFaults(limits, listed.inputSchema))
          report(`${use.pointer}/mcp`, `MCP server "${server}": ${describeFault(limits, fault)}`, {
            fix: 'Write a Tool document with a schema of its own.',
          })
      }
      const count = uses.length + subAgentsOf(document).length
      if (count > (limits.mostTools ?? Infinity))
        report(
          '/spec/tools',
          `${limits.vendor} takes at most ${limits.mostTools} tools, and this agent has ${count}.`,
          {
            severity: 'error',
            fix: 'Give groups of tools to sub-agents.',
          },
        )
    }
  },
}

/** The limits of the vendors whose models the agent may call, each once. */
function limitsOf(document: Document, { workspace, providers }: LintProject): ReadonlySet<VendorToolLimits> {
  const model: JsonObject = mappingIn(document, 'spec', 'model')
  const named = [model, ...(document.hasValidShape ? fallbackOf(document, workspace, fromJson<ModelSpec>(model)) : [])]
  return new Set(
    named.flatMap((each) => {
      const provider = isJsonObject(each) ? textMember(each, 'provider') : undefined
      if (provider === undefined) return []
      return vendorToolLimits(ownMember(providers, provider)?.type ?? provider) ?? []
    }),
  )
}

const describeFault = ({ vendor }: VendorToolLimits, { kind, name }: ToolSchemaFault): string =>
  kind === 'property_name'
    ? `${vendor} refuses the property name ${JSON.stringify(name)} in a tool.`
    : `${vendor} refuses \`${name}\` at the top of a tool's schema.`
