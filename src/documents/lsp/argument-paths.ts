/** Completion of `args.` in conditions, from the input schemas of the tools that a policy gates. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { resolveReference } from '../../base/json/resolve-pointer.ts'
import { pathText } from '../../policy/condition/path.ts'
import type { PathSegment } from '../../policy/condition/segment.ts'
import { gatedBindings } from '../facts/policies/attachments.ts'
import { inputOf, toolInput } from '../facts/agents/inputs.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { DocumentCursor } from './cursor.ts'

export interface ArgumentPath {
  /** `args.items[*].price`. */
  readonly path: string
  readonly type?: string
  readonly description?: string
}

/** Maximum number of choices. */
const MAX_PATHS = 200

/** Paths of all gated tools, each once: those of the scope, as written at the cursor, or of the bindings that are gated. */
export function argumentPaths(workspace: Workspace, path: string, { lines }: DocumentCursor): ArgumentPath[] {
  // Reads the scope from the text, because an incomplete condition may make the document unreadable.
  const scope = lines.map((line) => /^\s*["']?scope["']?\s*:\s*["']?tool:([^\s"'#,}]+)/.exec(line)?.[1]).find(Boolean)
  const policies = workspace.documentsAt(path).filter(({ kind }) => kind === 'Policy')
  const schemas =
    scope === undefined
      ? policies.flatMap((policy) => gatedBindings(workspace, policy).map((use) => inputOf(workspace, use)))
      : workspace.find({ path }, 'Tool', scope).map((tool) => toolInput(workspace, tool))
  const found = new Map<string, ArgumentPath>()
  for (const schema of new Set(schemas)) if (schema !== undefined) listPaths(schema.value, schema.value, [], [], found)
  return [...found.values()]
}

function listPaths(
  root: JsonValue,
  schema: JsonValue | undefined,
  segments: readonly PathSegment[],
  above: readonly JsonValue[],
  found: Map<string, ArgumentPath>,
): void {
  const resolved = resolveRef(root, schema)
  // A recursive schema is listed once: its paths have no end.
  if (!isJsonObject(resolved) || above.includes(resolved) || found.size >= MAX_PATHS) return
  const trail = [...above, resolved]
  const { type, description, properties, items } = resolved
  const path = pathText(segments)
  const last = segments.at(-1)
  if (last !== undefined && 'key' in last && !found.has(path))
    found.set(path, {
      path,
      ...(typeof type === 'string' && { type }),
      ...(typeof description === 'string' && { description }),
    })
  if (isJsonObject(properties))
    for (const [key, member] of Object.entries(properties))
      listPaths(root, member, [...segments, { key }], trail, found)
  if (items !== undefined) listPaths(root, items, [...segments, { each: true }], trail, found)
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const parts = resolved[keyword]
    // Alternatives have the path of the whole: they only add members.
    if (Array.isArray(parts)) for (const part of parts) listPaths(root, part, segments, trail, found)
  }
}

/** The target of `$ref: '#/…'`; schemas of other files are left out. */
function resolveRef(root: JsonValue, schema: JsonValue | undefined): JsonValue | undefined {
  const ref = isJsonObject(schema) ? schema['$ref'] : undefined
  return typeof ref === 'string' && ref.startsWith('#/') ? resolveReference(root, ref) : schema
}
